/** A valid configuration becomes one object; for an invalid one all problems are reported, each with a suggested fix. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { z } from 'zod'
import type { AgentKind } from '../agents/kind.ts'
import { checkConfig } from './check-config.ts'
import type { HubConfig } from './hub-config.ts'
import { agentFields } from './sections/agent-fields.ts'
import { sharedGrpcPort } from './sections/listen.ts'
import { formatPath } from './config-problem.ts'

const fake: AgentKind = {
  kind: 'fake',
  schema: z.strictObject({
    url: z.string(),
    tools: z
      .array(
        z.union([
          z.strictObject({ mcp: z.string() }),
          z.strictObject({ agent: z.string(), as: z.string().optional() }),
        ]),
      )
      .optional(),
  }),
  open: () => ({ agent: () => 'hi' }),
}
const other: AgentKind = { kind: 'other', schema: z.strictObject({}), open: () => ({ agent: () => 'hi' }) }
const kinds = [fake, other]

function right(tree: object): HubConfig {
  const checked = checkConfig(tree, { kinds, baseDir: '/etc/parley' })
  assert.ok('config' in checked, JSON.stringify(checked))
  return checked.config
}

function wrong(tree: unknown): readonly string[] {
  const checked = checkConfig(tree, { kinds, baseDir: '/etc/parley' })
  return 'problems' in checked ? checked.problems.map(({ path, message }) => `${formatPath(path)}: ${message}`) : []
}

const agents = { a: { kind: 'fake', url: 'x' } }

describe('a configuration', () => {
  it('needs no more than an agent: everything else has a default', () => {
    const config = right({ agents: { a: { kind: 'other' } } })
    assert.deepEqual(config.listen, { host: '127.0.0.1', port: 3000 })
    assert.equal(sharedGrpcPort(config.listen), 3001)
    assert.deepEqual(config.store, { url: 'sqlite:' })
    assert.equal(config.dataDir, '/etc/parley/.parley')
    assert.equal(config.push, true)
    assert.deepEqual(config.agents['a'], {
      kind: 'other',
      own: {},
      skills: [],
      skillBundles: [],
      default: false,
      card: { visibility: 'public' },
      requiredExtensions: [],
      inputTimeout: { afterMs: 604_800_000, then: 'fail' },
      limits: {},
      access: {},
    })
  })

  it('cannot be changed once it is read', () => {
    const config = right({ agents, limits: { perAgent: { a: { concurrent: 1 } } } })
    assert.throws(() => Object.assign(config.limits.perAgent['a'] ?? {}, { concurrent: 2 }), TypeError)
    assert.throws(() => Object.assign(config.agents['a']?.own ?? {}, { url: 'y' }), TypeError)
  })

  it('has paths that begin where the file is', () => {
    assert.deepEqual(right({ agents, store: 'sqlite:./data/p.db' }).store, { url: 'sqlite:/etc/parley/data/p.db' })
    assert.deepEqual(right({ agents, store: 'sqlite:/var/p.db' }).store, { url: 'sqlite:/var/p.db' })
    assert.deepEqual(right({ agents, store: 'memory:' }).store, { url: 'memory:' })
  })

  it('says of an agent what every agent may say, and leaves the rest to its kind', () => {
    const { a } = right({
      skillBundles: { office: [{ name: 'Read mail' }] },
      agents: {
        a: {
          kind: 'fake',
          url: 'x',
          description: 'Does things',
          skillBundles: ['office'],
          skills: [{ name: 'Sum up', tags: ['text'] }],
          timeout: '10m',
          inputTimeout: { after: '5m', then: 'continue' },
          card: 'private',
          limits: { concurrent: 2, rate: '10/s' },
        },
      },
    }).agents
    assert.deepEqual(a?.own, { url: 'x' })
    assert.equal(a?.timeout, 600_000)
    assert.deepEqual(a?.inputTimeout, { afterMs: 300_000, then: 'continue' })
    assert.deepEqual(a?.skills, [{ id: 'sum-up', name: 'Sum up', description: 'Sum up', tags: ['text'] }])
  })

  it('says how to permit every agent to callers without credentials', () => {
    const said = wrong({ agents: { a: { kind: 'fake', url: 'x' } }, access: { anonymous: ['*'] } })
    assert.deepEqual(said, ["access.anonymous[0]: stands for all agents only as anonymous: '*'"])
  })

  it('reports all problems at once', () => {
    const said = wrong({
      listen: { port: 70_000, hots: '::1' },
      stor: 'memory:',
      agents: {
        a: { kind: 'fake', URL: 'x', timeout: 5 },
        b: { kind: 'faek' },
        c: { kind: 'other', skillBundles: ['offce'] },
        d: 'other',
        'not a name': { kind: 'other' },
        tasks: { kind: 'other' },
        e: { url: 'x' },
      },
      skillBundles: { office: [] },
      access: { anonymous: ['z'] },
      limits: { perAgent: { aa: {} }, perKey: 60 },
    })
    assert.deepEqual(said, [
      'listen.port: must be a number from 0 to 65535',
      'listen.hots: unknown setting: did you mean host?',
      'limits.perKey: must be a rate such as 10/s, 60/min, 1000/h or 5000/day',
      'stor: unknown setting: did you mean store?',
      'agents.c.skillBundles[0]: unknown bundle offce: did you mean office?',
      'access.anonymous[0]: unknown agent z',
      'agents.a.timeout: must be a duration with its unit, such as 30s, 10m, 12h or 7d',
      'agents.a.url: is missing: must be a string',
      'agents.a.URL: unknown setting: did you mean url?',
      'agents.b.kind: unknown kind: did you mean fake?',
      'agents.d: must be a mapping such as { kind: fake }',
      'agents."not a name": a name is 1 to 64 letters, digits, dots, dashes, underscores or tildes, and begins with a letter or digit',
      'agents.tasks: is reserved: choose another name',
      'agents.e.kind: is missing: use fake or other',
    ])
  })

  it('reports the alternative that was meant', () => {
    assert.deepEqual(wrong({ agents: { a: { kind: 'fake', url: 'x', tools: [{ agent: 3 }, { mpc: 'y' }, 7] } } }), [
      'agents.a.tools[0].agent: must be a string',
      'agents.a.tools[1].mcp: is missing: must be a string',
      'agents.a.tools[1].mpc: unknown setting: did you mean mcp?',
      'agents.a.tools[2]: must be a mapping',
    ])
  })

  it('knows what every agent may say when it names what there is', () => {
    assert.deepEqual(wrong({ agents: { a: { kind: 'other', whatever: 1, descripton: 'x' } } }), [
      `agents.a.whatever: unknown setting: use one of ${Object.keys(agentFields.shape).toSorted().join(', ')}`,
      'agents.a.descripton: unknown setting: did you mean description?',
    ])
  })

  it('refuses two agents at one gRPC address, however it is spelled', () => {
    const at = (grpcUrl: string) => ({ kind: 'other', grpcUrl })
    const agents = {
      a: at('a.example.com:443'),
      b: at('https://A.example.com:443'),
      c: at('http://hub.example.com:50051'),
    }
    assert.deepEqual(wrong({ grpcUrl: 'hub.example.com:50051', agents }), [
      'agents.b.grpcUrl: is already used by the agent a',
      'agents.c.grpcUrl: is already used by grpcUrl',
    ])
  })

  it('refuses a card whose only interface would be the default gRPC port, which cards do not list', () => {
    const card = { omitInterfaces: ['JSONRPC', 'HTTP+JSON'] }
    assert.deepEqual(wrong({ card, agents }), [
      'card.omitInterfaces: must leave at least one interface on the card of a',
    ])
    assert.deepEqual(wrong({ card, agents, listen: { grpcPort: 3001 } }), [])
  })

  it('refuses what does not exist, and what is empty', () => {
    assert.match(
      wrong({ agents, roads: [] })[0] ?? '',
      /^roads: unknown setting: (did you mean|use one of access, admin, agents, )/,
    )
    assert.deepEqual(wrong({ agents: {} }), ['agents: must contain at least one agent'])
    assert.match(wrong({})[0] ?? '', /^agents: is missing: must map names to agents/)
    assert.match(wrong('nonsense')[0] ?? '', /^: must be a mapping/)
    assert.match(wrong({ agents: [] })[0] ?? '', /^agents: must map names to agents/)
  })

  it('needs who signs where certificates are to prove who calls', () => {
    assert.deepEqual(wrong({ agents, access: { mtls: true } }), [
      'access.mtls: requires listen.tls.ca, the authority of client certificates',
    ])
    right({ agents, access: { mtls: true }, listen: { tls: { cert: 'c', key: 'k', ca: 'a' } } })
  })

  it('takes a public url without what no card could use', () => {
    assert.equal(right({ agents, publicUrl: 'https://hub.example.com/' }).publicUrl, 'https://hub.example.com')
    for (const publicUrl of ['hub.example.com', 'https://x/?a=1', 'https://x/#a', 3]) {
      assert.equal(wrong({ agents, publicUrl }).length, 1, String(publicUrl))
    }
  })
})
