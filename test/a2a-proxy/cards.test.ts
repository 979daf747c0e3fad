/** The card of a remote agent as the hub serves it: verified, rewritten, signed by the hub, and refreshed. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { connect } from '@parley/a2a/client'
import { guardedLookup, guardedFetch } from '@parley/a2a/node'
import { freePort } from '../free-port.ts'
import { createTestCardSigner } from '../../packages/a2a/src/testing/fixtures/card-signers.ts'
import { a2aKind } from '../../packages/hub/src/agents/a2a/index.ts'
import { checkConfig } from '../../packages/hub/src/config/check-config.ts'
import { startHub } from '../../packages/hub/src/hub.ts'
import { openProxyToFakeRemote, sendForTask } from './fake-remote-fixture.ts'
import { openProxyFixture, statusOf } from './proxy-fixture.ts'
import { openFakeRemote, statusUpdate, task } from './fake-remote.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }
const soon = () => AbortSignal.timeout(120_000)
const done = () => ({ events: [{ task: task('WORKING') }, statusUpdate('COMPLETED')] })

const shown = {
  name: 'Oracle',
  description: 'Knows',
  version: '7.1.0',
  provider: { organization: 'Delphi', url: 'https://delphi.example.com' },
  documentationUrl: 'https://delphi.example.com/docs',
  iconUrl: 'https://delphi.example.com/icon.png',
  capabilities: { streaming: true, pushNotifications: true },
  defaultInputModes: ['text/plain', 'image/png'],
  defaultOutputModes: ['text/plain'],
  securitySchemes: { theirs: { httpAuthSecurityScheme: { scheme: 'bearer' } } },
  securityRequirements: [{ schemes: { theirs: { list: [] } } }],
  skills: [
    {
      id: 'ask',
      name: 'Ask',
      description: 'Any question',
      tags: ['wisdom'],
      examples: ['What next?'],
      securityRequirements: [{ schemes: { theirs: { list: ['ask'] } } }],
    },
  ],
}

describe('the card of a remote agent', () => {
  it("is served with the remote skills, the hub's address and security, and the hub's signature [B-34]", async (t) => {
    const signer = await createTestCardSigner()
    const remote = await openFakeRemote(done, { card: { ...shown, signatures: [await signer.sign(shown)] } })
    t.after(() => remote.close())
    const publicUrl = `http://127.0.0.1:${await freePort()}`
    const tree = {
      listen: { port: Number(new URL(publicUrl).port), grpcPort: false },
      publicUrl,
      store: 'memory:',
      agents: { oracle: { kind: 'a2a', url: remote.url, auth: { bearer: 'secret' } } },
    }
    const checked = checkConfig(tree, { kinds: [a2aKind], baseDir: import.meta.dirname })
    assert.ok('config' in checked, JSON.stringify(checked))
    const hub = await startHub(checked.config, { log: silent, kinds: [a2aKind] })
    t.after(() => hub.close())

    const agent = await connect(`${hub.url}/a2a/oracle`, {
      verify: 'require',
      trust: { jwks: `${publicUrl}/.well-known/jwks.json` },
    })
    assert.equal(agent.signature.status, 'verified')
    const { card } = agent
    const { securityRequirements: _, ...skill } = shown.skills[0]!
    assert.deepEqual(card.skills, [skill])
    for (const field of ['name', 'description', 'version', 'documentationUrl', 'iconUrl'] as const) {
      assert.equal(card[field], shown[field])
    }
    assert.deepEqual(card.provider, shown.provider)
    assert.deepEqual(card.defaultInputModes, shown.defaultInputModes)
    assert.ok(card.supportedInterfaces.every(({ url }) => url.startsWith(publicUrl)))
    assert.equal(card.securitySchemes?.['theirs'], undefined)
    assert.equal(card.signatures?.length, 1)
    assert.ok(!JSON.stringify(card).includes(new URL(remote.url).host))
    assert.equal(await agent.send('hi').then((answer) => answer.kind === 'task' && statusOf(answer)), 'COMPLETED')
  })

  it('is shown, and its media types refuse nothing: the remote agent decides [B-69 B-70]', async (t) => {
    const remotes = {
      // Strands, BeeAI and the official samples; fasta2a and pydantic-ai.
      strands: { defaultInputModes: ['text'], defaultOutputModes: ['text'] },
      fasta: { defaultInputModes: ['application/json'], defaultOutputModes: ['application/json'] },
    }
    const agents: Record<string, object> = {}
    for (const [name, card] of Object.entries(remotes)) {
      const remote = await openFakeRemote(done, { card })
      t.after(() => remote.close())
      agents[name] = { kind: 'a2a', url: remote.url }
      agents[`${name}-images`] = { ...agents[name], inputModes: ['image/*'] }
      agents[`${name}-strict`] = { ...agents[name], outputModes: ['text/plain'], outputModesRequired: true }
    }
    const tree = { listen: { port: 0, grpcPort: false }, store: 'memory:', agents }
    const checked = checkConfig(tree, { kinds: [a2aKind], baseDir: import.meta.dirname })
    assert.ok('config' in checked, JSON.stringify(checked))
    const hub = await startHub(checked.config, { log: silent, kinds: [a2aKind] })
    t.after(() => hub.close())

    for (const name of Object.keys(remotes) as (keyof typeof remotes)[]) {
      // CrewAI sends this list with every message.
      const options = { acceptedOutputModes: ['application/json'] }
      const open = await connect(`${hub.url}/a2a/${name}`)
      assert.deepEqual(open.card.defaultInputModes, remotes[name].defaultInputModes)
      const answer = await open.send('hi', options)
      assert.equal(answer.kind === 'task' && statusOf(answer), 'COMPLETED')
      for (const own of ['images', 'strict']) {
        const limited = await connect(`${hub.url}/a2a/${name}-${own}`)
        await assert.rejects(limited.send('hi', options), { code: 'CONTENT_TYPE_NOT_SUPPORTED' }, own)
      }
    }
  })

  it('is refreshed: changes are shown, and a new address is used', async (t) => {
    let card: Record<string, unknown> = { ...shown }
    const { opened, agent, remote } = await openProxyToFakeRemote(t, done, { card: () => card })
    assert.equal((await opened.fetchCard?.(soon()))?.description, 'Knows')
    const moved = await openFakeRemote(done)
    t.after(() => moved.close())
    const supportedInterfaces = [{ url: `${moved.url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }]
    card = { ...shown, description: 'Knows more', skills: [], supportedInterfaces }
    const look = await opened.fetchCard?.(soon())
    assert.deepEqual([look?.description, look?.skills], ['Knows more', []])
    assert.equal(statusOf(await sendForTask(agent)), 'COMPLETED')
    assert.deepEqual([remote.calls.length, moved.called(/Send/).length], [0, 1])
  })

  it('is used while its server is unreachable', async (t) => {
    let now = Date.now()
    const working = await openFakeRemote(done)
    t.after(() => working.close())
    const supportedInterfaces = [{ url: `${working.url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }]
    const { opened, agent, remote } = await openProxyToFakeRemote(
      t,
      done,
      { card: { supportedInterfaces } },
      { services: { now: () => now } },
    )
    await opened.fetchCard?.(soon())
    await remote.close()
    now += 3_600_000
    assert.equal(statusOf(await sendForTask(agent)), 'COMPLETED')
  })

  it('must have a trusted signature if the configuration requires it [B-31 B-32]', async (t) => {
    const [trusted, untrusted] = [
      await createTestCardSigner('ES256', 'friend'),
      await createTestCardSigner('ES256', 'untrusted'),
    ]
    const trust = { keys: [trusted.jwk] }
    const signed = async (who: typeof trusted, url: string) => {
      const whole = {
        ...shown,
        supportedInterfaces: [{ url: `${url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
      }
      return { ...whole, signatures: [await who.sign(whole)] }
    }
    for (const [verify, who, change, isUsed] of [
      ['require', trusted, {}, true],
      ['require', untrusted, {}, false],
      ['require', undefined, {}, false],
      ['require', trusted, { description: 'Knows nothing' }, false],
      ['prefer', undefined, {}, true],
      ['prefer', untrusted, {}, true],
      ['prefer', trusted, { description: 'Knows nothing' }, false],
      ['off', trusted, { description: 'Knows nothing' }, true],
    ] as const) {
      let card: Record<string, unknown> = {}
      const { agent, remote, lines } = await openProxyToFakeRemote(
        t,
        done,
        { card: () => card },
        { entry: { verify, trust }, test: { openAfterMs: 2_000 } },
      )
      card = who === undefined ? {} : { ...(await signed(who, remote.url)), ...change }
      const outcome = await sendForTask(agent).then(statusOf, (reason: { code: string }) => reason.code)
      assert.equal(outcome, isUsed ? 'COMPLETED' : 'AGENT_UNAVAILABLE', `${verify}, ${JSON.stringify(change)}`)
      if (!isUsed) assert.ok(lines.some(({ message }) => message === 'the remote agent cannot be reached'))
      if (!isUsed) assert.equal(remote.calls.length, 0)
    }
  })

  it('may name internal addresses only if the configuration allows it [B-26]', async (t) => {
    const inside = await openFakeRemote(done)
    t.after(() => inside.close())
    const guard = guardedFetch({ allowHttp: true })
    const lookup = guardedLookup()
    const at = (url: string, protocolBinding: string) => ({ url, protocolBinding, protocolVersion: '1.0' })
    for (const supportedInterfaces of [
      [at(`${inside.url}/rpc`, 'JSONRPC')],
      [at(new URL(inside.url).host.replace('127.0.0.1', 'localhost'), 'GRPC'), at(`${inside.url}/rpc`, 'JSONRPC')],
    ]) {
      const { agent } = await openProxyToFakeRemote(
        t,
        done,
        { card: { supportedInterfaces } },
        {
          entry: { allowPrivate: false },
          services: { guardedFetch: (input, init) => guard(new Request(input, init)), guardedLookup: lookup },
        },
      )
      assert.match(statusOf(await sendForTask(agent)), /^FAILED: Blocked: the agent's card names a disallowed address/)
      assert.equal(inside.calls.length, 0)
    }
    const allowed = await openProxyFixture(t, inside.url)
    assert.equal(statusOf(await sendForTask(allowed.agent)), 'COMPLETED')
  })

  it('is the extended card if the configuration enables it', async (t) => {
    const card = { capabilities: { streaming: true, extendedAgentCard: true } }
    const answer = ({ method }: { readonly method: string }) =>
      method === 'GetExtendedAgentCard'
        ? {
            result: {
              ...shown,
              supportedInterfaces: [
                { url: 'https://x.example.com', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
              ],
            },
          }
        : done()
    const open = await openProxyToFakeRemote(t, answer, { card })
    assert.equal((await open.opened.fetchCard?.(soon()))?.name, 'Fake')
    const trusted = await openProxyToFakeRemote(t, answer, { card }, { entry: { extendedCard: true } })
    assert.equal((await trusted.opened.fetchCard?.(soon()))?.name, 'Oracle')
  })
})
