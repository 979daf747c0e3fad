/**
 * Guards against: cards with wrong or nonstandard content. In other servers
 * a card with security schemes exposed the internals of a code generator, which their
 * own clients could not read; others require credentials before they declare which; others
 * declare capabilities that they then refuse.
 */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import type { SecurityScheme } from '@parley/a2a'
import { testAgent } from '@parley/a2a/testing'
import type { TestAgent } from '@parley/a2a/testing'
import { readAnswer } from './protocol-requests.ts'
import type { HttpAnswer } from './protocol-requests.ts'

const scopes = { read: 'Read' }
const authorizationCode = { authorizationUrl: 'https://id.example.com/a', tokenUrl: 'https://id.example.com/t', scopes }
const securitySchemes: Record<string, SecurityScheme> = {
  bearer: { httpAuthSecurityScheme: { scheme: 'bearer', bearerFormat: 'JWT' } },
  key: { apiKeySecurityScheme: { location: 'header', name: 'X-Key' } },
  oauth: { oauth2SecurityScheme: { flows: { authorizationCode } } },
  oidc: {
    openIdConnectSecurityScheme: { openIdConnectUrl: 'https://id.example.com/.well-known/openid-configuration' },
  },
  mtls: { mtlsSecurityScheme: { description: 'A certificate' } },
}
const securityRequirements = [{ schemes: { bearer: { list: [] } } }, { schemes: { oauth: { list: ['read'] } } }]

const agents: TestAgent[] = []
function tested(...given: Parameters<typeof testAgent>): TestAgent {
  const agent = testAgent(...given)
  agents.push(agent)
  return agent
}
after(async () => {
  for (const agent of agents) await agent.close()
})

async function cardOf(agent: TestAgent, version?: string, path = '/.well-known/agent-card.json'): Promise<HttpAnswer> {
  const headers = version === undefined ? {} : { 'a2a-version': version }
  return readAnswer(await agent.fetch(new Request(`http://agent.test${path}`, { headers })))
}

describe('a card with security schemes', () => {
  const agent = tested(() => 'x', {
    name: 'Guarded',
    securitySchemes,
    securityRequirements,
    server: { authenticate: () => undefined },
  })

  it('has them in the spelling of 1.0 [B-16]', async () => {
    const { json } = await cardOf(agent, '1.0')
    assert.deepEqual(json.securitySchemes, securitySchemes)
    assert.deepEqual(json.securityRequirements, securityRequirements)
  })

  it('has them in the spelling of 0.3 for clients that request it', async () => {
    const { json } = await cardOf(agent, '0.3')
    assert.deepEqual(json.securitySchemes, {
      bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
      key: { type: 'apiKey', in: 'header', name: 'X-Key' },
      oauth: { type: 'oauth2', flows: { authorizationCode } },
      oidc: { type: 'openIdConnect', openIdConnectUrl: 'https://id.example.com/.well-known/openid-configuration' },
      mtls: { type: 'mutualTLS', description: 'A certificate' },
    })
    assert.deepEqual(json.security, [{ bearer: [] }, { oauth: ['read'] }])
  })

  it('has both for clients that name no version', async () => {
    const { json } = await cardOf(agent)
    for (const [name, scheme] of Object.entries(securitySchemes)) {
      const [member, value] = Object.entries(scheme)[0]!
      assert.deepEqual(json.securitySchemes[name][member], value)
      assert.equal(typeof json.securitySchemes[name].type, 'string')
    }
  })

  it('is public, because it declares the required credentials [B-14]', async () => {
    for (const version of [undefined, '0.2', '0.3', '1.0']) assert.equal((await cardOf(agent, version)).status, 200)
  })

  it('contains no internals: no generator marks, no functions, no null', async () => {
    for (const version of [undefined, '0.2', '0.3', '1.0']) {
      const { text } = await cardOf(agent, version)
      assert.doesNotMatch(text, /\$case|\$type|__proto__|:null|undefined|\[object/)
    }
  })
})

describe('the declarations of a card', () => {
  it('are kept: operations without their capability (streaming, push, extended card) are refused [B-88 B-115 B-136]', async () => {
    const agent = tested(() => 'x', { streaming: false })
    const { json } = await cardOf(agent, '1.0')
    assert.equal(json.capabilities.streaming, false)
    assert.ok(json.capabilities.pushNotifications !== true && json.capabilities.extendedAgentCard !== true)
    const { wire } = agent
    await assert.rejects(agent.stream('hi').all(), { code: 'UNSUPPORTED_OPERATION' })
    await assert.rejects(agent.subscribe('x').all(), { code: 'UNSUPPORTED_OPERATION' })
    const config = { taskId: 'x', id: 'c', url: 'https://hooks.example.com' }
    const refused = { code: 'PUSH_NOTIFICATION_NOT_SUPPORTED' }
    await assert.rejects(wire.call('CreateTaskPushNotificationConfig', config), refused)
    await assert.rejects(wire.call('GetTaskPushNotificationConfig', config), refused)
    await assert.rejects(wire.call('ListTaskPushNotificationConfigs', { taskId: 'x' }), refused)
    await assert.rejects(wire.call('DeleteTaskPushNotificationConfig', config), refused)
    await assert.rejects(wire.call('GetExtendedAgentCard', {}), { code: 'UNSUPPORTED_OPERATION' })
  })

  it('are usable: each listed interface responds in its version [B-8 B-16]', async () => {
    const agent = tested(({ text }) => text)
    const { json } = await cardOf(agent, '1.0')
    assert.ok(json.supportedInterfaces.length >= 4)
    for (const { url, protocolBinding, protocolVersion } of json.supportedInterfaces) {
      const isNew = protocolVersion === '1.0'
      const headers = { 'a2a-version': protocolVersion, 'content-type': 'application/json' }
      const rpc = { jsonrpc: '2.0', id: 1, method: isNew ? 'GetTask' : 'tasks/get', params: { id: 'unknown' } }
      const request =
        protocolBinding === 'JSONRPC'
          ? new Request(url, { method: 'POST', headers, body: JSON.stringify(rpc) })
          : new Request(`${url}${isNew ? '' : '/v1'}/tasks/unknown`, { headers })
      const { text, headers: answered } = await readAnswer(await agent.fetch(request))
      assert.match(text, /TASK_NOT_FOUND/, `${protocolBinding} ${protocolVersion}`)
      assert.equal(answered.get('a2a-version'), protocolVersion)
    }
  })
})
