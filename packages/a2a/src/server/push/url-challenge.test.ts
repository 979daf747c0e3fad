import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { testMessage, openServers, rpc } from '../../testing/fixtures/test-server.ts'
import { createUrlChallenge } from './validate-push-config.ts'
import type { WebhookFetch } from './push-options.ts'
import { webhook } from '../webhook/webhook.ts'

const url = 'https://hooks.example.com/hook?a=1'
const passes = (fetch: WebhookFetch): Promise<boolean> => createUrlChallenge(fetch, 50)(url)
const tokenOf = (request: Request): string => new URL(request.url).searchParams.get('validationToken') ?? ''

describe('the challenge of a webhook', () => {
  it('is passed by a receiver that returns the token, such as webhook() [T-8]', async () => {
    const hook = webhook({ token: 't', answerChallenges: true })
    assert.equal(await passes(hook.fetch), true)
    assert.equal(await passes(async (request) => new Response(`${tokenOf(request)}\n`)), true)
  })

  it('is failed by every other receiver [T-8]', async () => {
    const others: readonly WebhookFetch[] = [
      async () => new Response('ok'),
      async () => new Response(null, { status: 204 }),
      async (request) => new Response(tokenOf(request), { status: 404 }),
      async (request) => new Response(tokenOf(request) + 'x'.repeat(5_000)),
      async () => Response.redirect('https://elsewhere.example.com/'),
      () => Promise.reject(new Error('no')),
      (request) =>
        new Promise((_, reject) => request.signal.addEventListener('abort', () => reject(new Error('timed out')))),
    ]
    for (const other of others) assert.equal(await passes(other), false)
  })

  it('rejects a webhook, set alone or inside a message, before any work is done [T-8 B-131]', async () => {
    const { open, post } = openServers()
    let runs = 0
    const handler = open({
      agent: () => `${(runs += 1)}`,
      push: { fetch: async () => new Response('who?'), challenge: true },
    })
    const v1 = { 'a2a-version': '1.0' }
    const sent = (configuration: object) =>
      post(handler, rpc('SendMessage', { message: testMessage(), configuration }), v1)
    const { id: taskId } = (await sent({})).json.result.task
    const set = await post(handler, rpc('CreateTaskPushNotificationConfig', { taskId, url }), v1)
    const inline = await sent({ taskPushNotificationConfig: { url } })
    for (const { json } of [set, inline]) assert.equal(json.error.code, -32_602)
    assert.equal(runs, 1)
  })
})
