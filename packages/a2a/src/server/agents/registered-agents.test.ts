import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { cursorExtension } from '../../model/extension.ts'
import { resolveRoute } from '../http/router.ts'
import { clientTools, credentials, cursor, timestamps, trace } from '../extensions/builtin-extensions.ts'
import { createAgentRegistry } from './registered-agents.ts'

const agent = (): string => 'hi'
const place = (agents: ReturnType<typeof createAgentRegistry>, path: string): string => {
  const { registeredAgent, endpoint, binding, subpath } = resolveRoute(agents, path)
  return `${registeredAgent.name} ${endpoint === 'call' ? binding : endpoint} ${subpath}`.trim()
}

describe('an agent registry', () => {
  it('accepts functions, objects with run, and described agents', () => {
    const registry = createAgentRegistry({
      agents: {
        a: agent,
        b: { resume: 'rerun', run: agent },
        c: { agent, name: 'Sea', turnTimeoutMs: 5, streaming: false },
      },
    })
    assert.deepEqual([...registry.byName.keys()], ['a', 'b', 'c'])
    assert.equal(registry.defaultAgent.name, 'a')
    assert.equal(registry.byName.get('a')?.settings.name, 'a')
    assert.equal(registry.byName.get('c')?.settings.name, 'Sea')
    assert.equal(registry.byName.get('c')?.options.turnTimeoutMs, 5)
    assert.equal(registry.byName.get('c')?.options.whenBusy, 'queue')
    assert.equal(registry.byName.get('c')?.streaming, false)
  })

  it('refuses reserved names and names that are invalid in a url, with the path', () => {
    for (const name of [
      'tasks',
      'agent',
      'v1',
      'healthz',
      'mcp',
      'a/b',
      '',
      '..',
      '.well-known',
      'a b',
      'x'.repeat(65),
    ]) {
      assert.throws(() => createAgentRegistry({ agents: { [name]: agent } }), {
        name: 'ConfigError',
        path: `agents.${name}`,
      })
    }
    assert.throws(() => createAgentRegistry({ agents: {} }), { name: 'ConfigError', path: 'agents' })
    assert.throws(() => createAgentRegistry({ agents: { a: 5 as never } }), {
      name: 'ConfigError',
      path: 'agents.a.agent',
    })
    assert.throws(() => createAgentRegistry({ name: 'x' } as never), { name: 'ConfigError', path: 'agent' })
  })

  it('declares only the listed extensions, including built-in ones, none of which is required [B-141 B-148 B-149 T-11]', () => {
    assert.deepEqual(createAgentRegistry({ agent }).defaultAgent.extensions, [])
    const ours = [cursor(), clientTools(), credentials(), timestamps(), trace()]
    const { defaultAgent } = createAgentRegistry({
      agent,
      extensions: [{ uri: 'urn:x', required: true, params: { a: 1 } }, ...ours],
    })
    assert.deepEqual([...defaultAgent.declared], ['urn:x', ...ours.map(({ uri }) => uri)])
    assert.deepEqual(defaultAgent.required, ['urn:x'])
    assert.deepEqual(defaultAgent.extensions[0], { uri: 'urn:x', required: true, params: { a: 1 } })
    assert.deepEqual(Object.keys(defaultAgent.extensions[2] ?? {}), ['uri', 'description', 'required'])
  })

  it('declares on the card for how long an agent recognizes a repeat, by its own or the common setting [B-163]', () => {
    const day = 86_400_000
    const stated = (options: Parameters<typeof createAgentRegistry>[0], name = 'a'): readonly unknown[] => {
      const { extensions, options: ofEngine } = createAgentRegistry(options).byName.get(name) ?? assert.fail()
      return [extensions.find(({ uri }) => uri === cursorExtension)?.params, ofEngine.idempotencyWindowMs]
    }
    const extensions = [cursor()]
    const own = { agent, idempotency: 'off' } as const
    const windows = (ms: number) => [{ idempotencyWindowMs: ms }, ms]
    assert.deepEqual(stated({ extensions, agents: { a: agent } }), windows(day))
    assert.deepEqual(stated({ extensions, idempotency: { windowMs: 5_000 }, agents: { a: agent } }), windows(5_000))
    assert.deepEqual(stated({ extensions, idempotency: { windowMs: 5_000 }, agents: { a: own } }), windows(0))
    const alone = createAgentRegistry({ agent, extensions, idempotency: { windowMs: 0 } })
    alone.set('default', { agent, extensions })
    assert.deepEqual(
      alone.defaultAgent.extensions[0]?.params,
      { idempotencyWindowMs: 0 },
      'also when the agent is replaced',
    )
    for (const windowMs of [-1, 0.5, Infinity, NaN, '1h' as never]) {
      assert.throws(() => createAgentRegistry({ agent, idempotency: { windowMs } }), /idempotency\.windowMs/)
    }
  })

  it('applies common settings to every agent, and lets each override them', () => {
    const onEvent = (): void => {}
    const own = (): void => {}
    const { byName } = createAgentRegistry({
      extensions: [cursor(), { uri: 'urn:x' }],
      onEvent,
      agents: {
        a: agent,
        b: { agent, extensions: [{ uri: 'urn:x', required: true }, { uri: 'urn:y' }], onEvent: own },
      },
    })
    assert.deepEqual([...(byName.get('a')?.declared ?? [])], [cursorExtension, 'urn:x'])
    assert.deepEqual([...(byName.get('b')?.declared ?? [])], [cursorExtension, 'urn:x', 'urn:y'])
    assert.deepEqual([byName.get('a')?.required, byName.get('b')?.required], [[], ['urn:x']])
    assert.deepEqual([byName.get('a')?.onEvent, byName.get('b')?.onEvent], [onEvent, own])
  })

  it('lets skills extend the input modes of an agent, and accepts everything by default [B-70]', () => {
    const skills = [{ id: 's', name: 's', description: 's', tags: [], inputModes: ['image/*'] }]
    assert.deepEqual(createAgentRegistry({ agent, inputModes: ['text/plain'], skills }).defaultAgent.inputModes, [
      'text/plain',
      'image/*',
    ])
    assert.deepEqual(createAgentRegistry({ agent, skills }).defaultAgent.inputModes, [])
  })

  it('enforces input modes unless they are only shown, and output modes only if they are required [B-69 B-70]', () => {
    const modes = { inputModes: ['text/plain'], outputModes: ['text/plain'] }
    const enforced = (settings: object): readonly unknown[] => {
      const { inputModes, outputModes } = createAgentRegistry({ agent, ...modes, ...settings }).defaultAgent
      return [inputModes, outputModes]
    }
    assert.deepEqual(enforced({}), [['text/plain'], []])
    assert.deepEqual(enforced({ inputModesRequired: false }), [[], []])
    assert.deepEqual(enforced({ outputModesRequired: true }), [['text/plain'], ['text/plain']])
  })
})

describe('a path', () => {
  const one = createAgentRegistry({ agent })
  const two = createAgentRegistry({ agents: { echo: agent, clock: agent } })

  it('leads to the only agent from the root, from /a2a and from /api/a2a', () => {
    for (const path of ['/', '/a2a', '/a2a/', '/api/a2a'])
      assert.equal(place(one, path), 'default JSONRPC'.concat(path === '/a2a/' ? ' /' : ''))
    for (const base of ['', '/a2a']) {
      assert.equal(place(one, `${base}/message:send`), 'default HTTP+JSON /message:send')
      assert.equal(place(one, `${base}/v1/tasks/t`), 'default HTTP+JSON /v1/tasks/t')
      assert.equal(place(one, `${base}/.well-known/agent-card.json`), 'default card /.well-known/agent-card.json')
      assert.equal(place(one, `${base}/.well-known/agent.json`), 'default card-0.2 /.well-known/agent.json')
      assert.equal(
        place(one, `${base}/agent/authenticatedExtendedCard`),
        'default extended-card-0.2 /agent/authenticatedExtendedCard',
      )
    }
  })

  it('leads to each of several by name, and to the first from the root [B-27]', () => {
    assert.equal(place(two, '/a2a/clock'), 'clock JSONRPC')
    assert.equal(place(two, '/a2a/clock/'), 'clock JSONRPC /')
    assert.equal(place(two, '/a2a/clock/tasks/t:cancel'), 'clock HTTP+JSON /tasks/t:cancel')
    assert.equal(place(two, '/a2a/clock/agent-card'), 'clock card /agent-card')
    assert.equal(place(two, '/a2a/clock/.well-known/agent'), 'clock card /.well-known/agent')
    assert.equal(place(two, '/.well-known/agent-card.json'), 'echo card /.well-known/agent-card.json')
    assert.equal(place(two, '/api/a2a/.well-known/agent-card.json'), 'echo card /.well-known/agent-card.json')
    assert.equal(place(two, '/api/a2a/tasks/t'), 'echo HTTP+JSON /api/a2a/tasks/t')
    assert.equal(place(two, '/v1/message:send'), 'echo HTTP+JSON /v1/message:send')
    for (const path of ['/a2a', '/a2a/']) assert.match(place(two, path), /^echo JSONRPC/)
    assert.equal(place(two, '/a2abc'), 'echo HTTP+JSON /a2abc')
  })

  it('leads to no agent below /a2a without a name, unless there is only one agent', () => {
    const only = createAgentRegistry({ agents: { echo: agent } })
    for (const path of [
      '/.well-known/agent-card.json',
      '/.well-known/agent.json',
      '/.well-known/agent',
      '/agent-card',
      '/agent/authenticatedExtendedCard',
      '/message:send',
      '/v1/message:send',
      '/tasks/t',
      '/__proto__',
      '//tasks/t',
    ]) {
      assert.equal(resolveRoute(two, `/a2a${path}`).registeredAgent.isUnnamed, true, path)
      assert.equal(resolveRoute(only, `/a2a${path}`).registeredAgent.name, 'echo', path)
    }
    two.dismiss('clock')
    assert.equal(place(two, '/a2a/.well-known/agent-card.json'), 'echo card /.well-known/agent-card.json')
    two.set('clock', agent)
  })

  it('leads to an absent agent for an unregistered name, unless it is a tenant [B-153 B-166]', () => {
    assert.equal(place(two, '/a2a/unknown'), 'unknown JSONRPC')
    assert.equal(place(two, '/a2a/unknown/tasks'), 'unknown HTTP+JSON /tasks')
    assert.equal(resolveRoute(two, '/a2a/unknown').registeredAgent.isAbsent, true)
    const { registeredAgent, subpath } = resolveRoute(two, '/a2a/acme/tasks', ['acme'])
    assert.deepEqual([registeredAgent.name, subpath], ['echo', '/acme/tasks'])
    assert.equal(place(one, '/a2a/unknown'), 'default HTTP+JSON /unknown')
  })
})
