import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { guardedWebhooks, type WebhookGuardOptions } from './guarded-fetch.ts'

const refusal = (url: string, options: WebhookGuardOptions = {}): string | undefined =>
  guardedWebhooks(options).validateUrl(new URL(url))

const notPublic = 'must be at a public address, or at a host that the operator lists in push.allow'
const notSecure = 'must be https, or at a host that the operator lists in push.allow'

describe('the guard of webhooks', () => {
  it('accepts a public https address without a lookup [B-129]', () => {
    assert.equal(refusal('https://hooks.example.com/a'), undefined)
    assert.equal(refusal('https://93.184.216.34/'), undefined)
    assert.equal(refusal('https://[2606:2800:220:1::1]:8443/'), undefined)
  })

  it('refuses internal addresses, and addresses without https [B-129]', () => {
    const inside = [
      'https://127.0.0.1/',
      'https://0x7f.1/',
      'https://[::ffff:10.0.0.1]/',
      'https://localhost./',
      'https://a.localhost/',
    ]
    for (const url of inside) assert.equal(refusal(url), notPublic, url)
    assert.equal(refusal('http://hooks.example.com/'), notSecure)
  })

  it('names the setting that permits a local webhook, with TLS or without [B-129]', () => {
    for (const url of ['http://localhost:9000/hook', 'http://127.0.0.1:9000/', 'https://[::1]/']) {
      assert.match(refusal(url) ?? '', /public address.* push\.allow$/, url)
    }
  })

  it('allows what the operator lists, by name, address or range, also without TLS [B-129]', async () => {
    const allow = ['hooks.internal', '*.lab.internal', '10.1.0.0/16', 'localhost']
    for (const host of ['hooks.internal', 'a.lab.internal', '10.1.2.3', 'localhost:9000', 'localhost.:9000']) {
      assert.equal(refusal(`http://${host}/`, { allow }), undefined, host)
    }
    assert.equal(refusal('http://localhost/', { allowLoopback: true }), undefined)
    assert.equal(refusal('http://93.184.216.34/', { allow }), notSecure)
    assert.equal(refusal('http://10.2.0.1/', { allow }), notPublic)
    assert.equal(refusal('https://10.2.0.1/', { allow }), notPublic)
    const { fetch } = guardedWebhooks({ allow: ['10.0.0.1'] })
    await assert.rejects(fetch(new Request('http://hooks.example.com/')), { code: 'PERMISSION_DENIED' })
  })

  it('applies a list of hosts if there is one [B-129]', () => {
    const only = ['hooks.example.com', '*.example.net', '93.184.216.34']
    for (const host of ['hooks.example.com', 'HOOKS.example.com.', 'a.example.net', '93.184.216.34']) {
      assert.equal(refusal(`https://${host}/`, { only }), undefined, host)
    }
    for (const host of ['example.com', 'example.net', '93.184.216.35', '127.0.0.1']) {
      assert.match(refusal(`https://${host}/`, { only }) ?? '', /a host that this server is allowed to call/, host)
    }
  })

  it('names an invalid entry of a list', () => {
    assert.throws(() => guardedWebhooks({ allow: ['https://hooks.example.com/'] }), { code: 'INVALID_PARAMS' })
    assert.throws(() => guardedWebhooks({ only: ['a b'] }), { code: 'INVALID_PARAMS' })
  })
})
