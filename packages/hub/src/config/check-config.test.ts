/** A valid configuration becomes one object; for an invalid one all problems are reported, each with a suggested fix. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { z } from 'zod'
import type { AgentKind } from '../agents/kind.ts'
import { checkConfig } from './check-config.ts'
import type { HubConfig } from './hub-config.ts'
import { formatPath } from './config-path.ts'

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
    assert.deepEqual(config.listen, { host: '127.0.0.1', port: 3000, grpcPort: 3001 })
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
      'listen.port: give a number from 0 to 65535',
      'listen.hots: is no setting: did you mean host?',
      'limits.perKey: give a rate such as 10/s, 60/min, 1000/h or 5000/day',
      'stor: is no setting: did you mean store?',
      'agents.c.skillBundles[0]: there is no bundle offce: did you mean office?',
      'access.anonymous[0]: there is no agent z',
      'agents.a.timeout: give a duration with its unit, such as 30s, 10m, 12h or 7d',
      'agents.a.url: is missing: give a text',
      'agents.a.URL: is no setting: did you mean url?',
      'agents.b.kind: there is no such kind: did you mean fake?',
      'agents.d: give settings, such as { kind: fake }',
      'agents."not a name": a name is 1 to 64 letters, digits, dots, dashes, underscores or tildes, and begins with a letter or digit',
      'agents.tasks: this name is reserved: choose another',
      'agents.e.kind: is missing: say fake or other',
    ])
  })

  it('reports the alternative that was meant', () => {
    assert.deepEqual(wrong({ agents: { a: { kind: 'fake', url: 'x', tools: [{ agent: 3 }, { mpc: 'y' }, 7] } } }), [
      'agents.a.tools[0].agent: give a text',
      'agents.a.tools[1].mcp: is missing: give a text',
      'agents.a.tools[1].mpc: is no setting: did you mean mcp?',
      'agents.a.tools[2]: give settings: names with values',
    ])
  })

  it('knows what every agent may say when it names what there is', () => {
    assert.deepEqual(wrong({ agents: { a: { kind: 'other', whatever: 1, descripton: 'x' } } }), [
      'agents.a.whatever: is no setting here: there are access, card, default, description, documentationUrl, grpcPort, grpcUrl, iconUrl, inputModes, inputTimeout, keepOpenOnInputRequired, limits, name, outputModes, persona, provider, requiredExtensions, skillBundles, skills, timeout, version, whenBusy',
      'agents.a.descripton: is no setting: did you mean description?',
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
      'agents.b.grpcUrl: is already that of the agent a',
      'agents.c.grpcUrl: is already that of grpcUrl',
    ])
  })

  it('refuses what is not there, and what is nothing at all', () => {
    assert.match(
      wrong({ agents, roads: [] })[0] ?? '',
      /^roads: is no setting here: (did you mean|there are access, admin, agents, )/,
    )
    assert.deepEqual(wrong({ agents: {} }), ['agents: name at least one agent'])
    assert.match(wrong({})[0] ?? '', /^agents: give the agents by name/)
    assert.match(wrong('nonsense')[0] ?? '', /^: give settings/)
    assert.match(wrong({ agents: [] })[0] ?? '', /^agents: give the agents by name/)
  })

  it('needs who signs where certificates are to prove who calls', () => {
    assert.deepEqual(wrong({ agents, access: { mtls: true } }), [
      'access.mtls: needs listen.tls.ca: who signs the certificates of clients',
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
