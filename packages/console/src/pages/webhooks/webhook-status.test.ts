import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setFilters } from '../../components/filters/url-filters.ts'
import {
  deliveryAdvice,
  deliveryFailure,
  webhookFilterSearch,
  webhookFilters,
  isDelivered,
  splitWebhookUrl,
  webhookHref,
  webhookStatus,
  deliveryProgressText,
  webhookCurl,
  statusExplanation,
} from './webhook-status.ts'

const cursor = { state: 'active', attempt: 0, deliveredSeq: 4, head: 12 } as const
const dueAt = '2030-01-01T12:00:00.000Z'

describe('the status of a webhook', () => {
  it('has a word for each state', () => {
    assert.deepEqual(
      [
        cursor,
        { ...cursor, dueAt },
        { ...cursor, dueAt, attempt: 2 },
        { ...cursor, state: 'dead' as const, attempt: 3 },
        { ...cursor, state: 'done' as const },
      ].map((one) => [webhookStatus(one).word, deliveryProgressText(one)]),
      [
        ['Waiting for events', 'All events so far'],
        ['Sending', 'Delivered 4 of 12'],
        ['Retrying', 'Delivered 4 of 12'],
        ['Undeliverable', 'Delivered 4 of 12'],
        ['Delivered', 'All events'],
      ],
    )
    assert.equal(deliveryProgressText({ ...cursor, dueAt, deliveredSeq: 0 }), 'Delivered 0 of 12')
  })

  it('has an explanation', () => {
    const once = deliveryFailure({ ...cursor, state: 'dead', attempt: 1 })
    assert.deepEqual(
      [once?.title, once?.advice],
      ['Delivery failed after 1 attempt', 'Events are queued; redeliver to resume.'],
    )
    assert.equal(deliveryFailure({ ...cursor, state: 'dead', attempt: 9 })?.title, 'Delivery failed after 9 attempts')
    assert.equal(deliveryFailure({ ...cursor, attempt: 1 })?.title, 'The last attempt failed')
    assert.equal(deliveryFailure(cursor), undefined)
    assert.match(statusExplanation({ ...cursor, dueAt }), /^Delivering now/)
  })

  it('has advice for each response', () => {
    assert.deepEqual(['HTTP 200', 'HTTP 204', 'HTTP 500', 'timed out'].map(isDelivered), [true, true, false, false])
    assert.match(deliveryAdvice('HTTP 302') ?? '', /follows none/)
    assert.match(deliveryAdvice('HTTP 403') ?? '', /credentials/)
    assert.match(deliveryAdvice('HTTP 404') ?? '', /does not accept POST/)
    assert.match(deliveryAdvice('HTTP 422') ?? '', /rejected the event/)
    assert.match(deliveryAdvice('HTTP 429') ?? '', /overloaded/)
    assert.match(deliveryAdvice('HTTP 503') ?? '', /overloaded/)
    assert.match(deliveryAdvice('timed out') ?? '', /in time/)
    assert.match(deliveryAdvice('ECONNREFUSED') ?? '', /cannot be reached/)
    assert.equal(deliveryAdvice('something else'), undefined)
  })
})

describe('the addresses of webhooks', () => {
  it('are split into the host and the rest', () => {
    assert.deepEqual(splitWebhookUrl('https://hooks.example.com:8443/a/b?token=…'), {
      host: 'hooks.example.com:8443',
      rest: '/a/b?token=…',
    })
    assert.deepEqual(splitWebhookUrl('http://x.example/'), { host: 'x.example', rest: '' })
    assert.deepEqual(splitWebhookUrl('no address'), { host: 'no address', rest: '' })
  })

  it('have a path each, with the filters of the list', () => {
    const filters = webhookFilters.read(new URLSearchParams('state=dead&agent=a b&text= x &other=1'))
    assert.deepEqual(setFilters(filters), { state: 'dead', agent: 'a b', text: 'x' })
    assert.equal(
      webhookHref({ taskId: 't', configId: 'a/b' }, webhookFilterSearch(filters)),
      '/webhooks/t/a%2Fb?state=dead&agent=a+b&text=x',
    )
    assert.equal(webhookFilterSearch(webhookFilters.read(new URLSearchParams('state=odd'))), '')
  })

  it('are registered with one command', () => {
    const open = webhookCurl('http://hub', { name: 'a b', isOpen: true })
    assert.match(open, /^curl http:\/\/hub\/a2a\/a%20b .*"messageId":"'\$\(uuidgen .*taskPushNotificationConfig/s)
    assert.doesNotMatch(open, /Authorization/)
    assert.match(webhookCurl('http://hub', { name: 'a', isOpen: false }), /Bearer \$PARLEY_KEY/)
  })
})
