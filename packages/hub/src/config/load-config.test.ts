/** Precedence of file, environment and flags, and how errors are reported with their lines. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { z } from 'zod'
import type { AgentKind } from '../agents/kind.ts'
import type { HubConfig } from './hub-config.ts'
import { formatPath } from './config-problem.ts'
import { findConfig, loadConfig, type ConfigOverrides } from './load-config.ts'
import { parseYaml } from './config-document.ts'
import { unreadSecrets } from './secrets/load-with-secrets.ts'

const folder = mkdtempSync(join(tmpdir(), 'parley-load-'))
after(() => rmSync(folder, { recursive: true }))

const kind: AgentKind = {
  kind: 'fake',
  schema: z.strictObject({ key: z.string().optional(), times: z.number().optional(), on: z.boolean().optional() }),
  open: () => ({ agent: () => 'hi' }),
}
const otherwise = { agents: { demo: { kind: 'fake' } } }

interface Given {
  readonly env?: Record<string, string>
  readonly overrides?: ConfigOverrides
  readonly name?: string
}

function load(text: string | undefined, { env = {}, overrides, name = 'parley.yaml' }: Given = {}) {
  if (text !== undefined) writeFileSync(join(folder, name), text)
  const file = text === undefined ? undefined : name
  const more = overrides === undefined ? {} : { overrides }
  return loadConfig({ file, fallback: otherwise, environment: env, cwd: folder, kinds: [kind], ...more })
}

function right(...given: Parameters<typeof load>): HubConfig {
  const loaded = load(...given)
  assert.ok('config' in loaded, JSON.stringify(loaded))
  return loaded.config
}

function wrong(...given: Parameters<typeof load>): readonly string[] {
  const loaded = load(...given)
  assert.ok('problems' in loaded)
  return loaded.problems.map(({ path, line, message }) => `${line ?? '-'} ${formatPath(path)}: ${message}`)
}

describe('a configuration file', () => {
  it('may be YAML or JSON', () => {
    assert.deepEqual(Object.keys(right('agents:\n  a: { kind: fake }\n').agents), ['a'])
    const json = JSON.stringify({ agents: { b: { kind: 'fake' } } })
    assert.deepEqual(Object.keys(right(json, { name: 'parley.json' }).agents), ['b'])
  })

  it('is found by its name, and need not be there', () => {
    assert.equal(findConfig(join(folder, 'nowhere')), undefined)
    assert.equal(findConfig(folder), join(folder, 'parley.yaml'))
    const config = right(undefined)
    assert.deepEqual(Object.keys(config.agents), ['demo'])
    assert.equal(config.file, undefined)
    assert.equal(config.baseDir, folder)
    assert.equal(right('agents: { a: { kind: fake } }').file, join(folder, 'parley.yaml'))
  })

  it('refers to the environment, also inside a text', () => {
    const text = 'agents: { a: { kind: fake, key: "Bearer ${env:TOKEN}/${env:TOKEN}" } }'
    assert.deepEqual(right(text, { env: { TOKEN: 't' } }).agents['a']?.own, { key: 'Bearer t/t' })
  })

  it('reads a number or a yes out of the environment where one is wanted, and a text where a text is', () => {
    const text = `agents:
  a: { kind: fake, key: "\${env:NUMBER}", times: "\${env:NUMBER}", on: "\${env:YES}" }
listen: { port: "\${env:PORT}" }
`
    const { agents, listen } = right(text, { env: { NUMBER: '12', YES: 'true', PORT: '8080' } })
    assert.deepEqual(agents['a']?.own, { key: '12', times: 12, on: true })
    assert.equal(listen.port, 8080)
    assert.deepEqual(wrong(text, { env: { NUMBER: 'x', YES: 'true', PORT: '80' } }), [
      '2 agents.a.times: must be a number',
    ])
  })

  it('reports every missing variable with its line', () => {
    const text = 'agents:\n  a: { kind: fake, key: "${env:ONE}" }\n  b:\n    kind: fake\n    key: ${env:TWO}\n'
    assert.deepEqual(wrong(text), [
      '2 agents.a.key: ONE is not set in the environment: set it before the hub starts',
      '5 agents.b.key: TWO is not set in the environment: set it before the hub starts',
    ])
    assert.match(wrong('agents: { a: { kind: fake, key: "${env:}" } }')[0] ?? '', /must name an environment variable/)
  })

  it('reports all other problems beside a missing variable', () => {
    const text = `agents:
  a: { kind: fake, times: "\${env:TIMES}", kye: x }
  b: { kind: fakes }
listen: { port: eighty, host: "\${env:HOST_NAME}" }
`
    assert.deepEqual(wrong(text), [
      '2 agents.a.times: TIMES is not set in the environment: set it before the hub starts',
      '2 agents.a.kye: unknown setting: did you mean key?',
      '3 agents.b.kind: unknown kind: did you mean fake?',
      '4 listen.host: HOST_NAME is not set in the environment: set it before the hub starts',
      '4 listen.port: must be a whole number',
    ])
  })

  it('reports the line of each problem, in line order', () => {
    const text = `# what is wrong comes late
agents:
  a:
    kind: fake
    kye: x
  b:
    kind: fakes
listen:
  port: eighty
limits:
  perAgent:
    - 1
`
    assert.deepEqual(wrong(text), [
      '5 agents.a.kye: unknown setting: did you mean key?',
      '7 agents.b.kind: unknown kind: did you mean fake?',
      '9 listen.port: must be a whole number',
      '11 limits.perAgent: must be a mapping',
    ])
  })

  it('reports YAML errors and duplicate names', () => {
    assert.match(wrong('agents: [\n')[0] ?? '', /^\d invalid YAML|^\d : invalid YAML/)
    assert.match(wrong('agents:\n  a: { kind: fake }\n  a: { kind: fake }\n')[0] ?? '', /^3 : invalid YAML: .*unique/)
  })

  it('reads no further than the first hundred YAML errors, and one document only', () => {
    assert.equal(wrong('{ text: kind }'.repeat(10_000)).length, 100)
    assert.ok(parseYaml('{ text: kind }'.repeat(10_000)).errors.length < 110)
    assert.match(wrong('agents: {}\n---\nagents: {}\n')[0] ?? '', /invalid YAML: The text contains several documents/)
  })

  it('may say things once and use them often', () => {
    const text = 'agents:\n  a: &a { kind: fake, key: k }\n  b: { <<: *a, times: 2 }\n'
    assert.deepEqual(right(text).agents['b']?.own, { key: 'k', times: 2 })
  })

  it('refuses an alias inside its own anchor, which has no end', () => {
    const message = /invalid YAML: an alias refers to a value that contains it/
    assert.match(wrong('x: &x { kind: fake, a: *x, b: *x }\n')[0] ?? '', message)
    assert.match(wrong('x: &x\n  - { y: [*x] }\n')[0] ?? '', message)
    assert.match(wrong(`x: [${'*y, '.repeat(501)}]`)[0] ?? '', /invalid YAML: it has more than 500 aliases/)
    assert.match(wrong(`# ${'*'.repeat(3_000)}\nagents: 1\n`)[0] ?? '', /agents: must map names to agents/)
  })

  it('reports a missing file', () => {
    const loaded = loadConfig({ file: 'none.yaml', fallback: otherwise, environment: {}, cwd: folder, kinds: [kind] })
    assert.deepEqual('problems' in loaded && loaded.problems, [{ path: [], message: 'the file does not exist' }])
  })
})

describe('secrets that were not read', () => {
  const secrets = 'secrets: { vault: { command: [vault] } }\n'
  const unreadOf = (text: string, overrides: ConfigOverrides = {}) => {
    const options = { text: secrets + text, file: 'parley.yaml', fallback: otherwise, environment: {}, cwd: folder }
    const loaded = loadConfig({ ...options, kinds: [kind], overrides, secrets: unreadSecrets.known })
    return { loaded, unread: loaded.unread.map(({ path, line, message }) => `${line} ${formatPath(path)}: ${message}`) }
  }
  const agents = 'agents: { a: { kind: fake, key: "${vault:a}" } }\n'

  it('are listed, and are not values to hide', () => {
    const { loaded, unread } = unreadOf(agents)
    assert.ok('config' in loaded)
    assert.deepEqual(unread, ['2 agents.a.key: ${vault:a} was not read'])
    assert.deepEqual([...loaded.secretValues], [])
  })

  it('are the problems only if there are no others, and if their setting needs the value', () => {
    const text = `${agents}listen: { port: "\${vault:port}" }\nstore: { url: "\${vault:url}", masterKey: "\${vault:m}" }\n`
    const { loaded } = unreadOf(text)
    assert.ok('problems' in loaded)
    assert.equal(loaded.problems, loaded.unread)
    const { loaded: other } = unreadOf(`${text}limits: 1\n`)
    assert.ok('problems' in other)
    assert.deepEqual(
      other.problems.map(({ path, message }) => [formatPath(path), message]),
      [['limits', 'must be a mapping']],
    )
  })

  it('count no longer where a flag or a variable replaces them', () => {
    const text = `${agents}store: "\${vault:url}"\nadmin: { key: "\${vault:key}" }\n`
    const key = '0123456789abcdef'
    const paths = (overrides: ConfigOverrides) => unreadOf(text, overrides).loaded.unread.map(({ path }) => path[0])
    assert.deepEqual(paths({ admin: { key } }), ['agents', 'store'])
    assert.deepEqual(paths({ store: { masterKey: 'm' } }), ['agents', 'store', 'admin'])
    assert.deepEqual(paths({ store: { url: 'memory:' }, admin: { key } }), ['agents'])
  })
})

describe('what is said outside the file', () => {
  it('wins over the file, branch by branch', () => {
    const text = 'agents: { a: { kind: fake } }\nlisten: { host: "::1", port: 1 }\nstore: sqlite:here.db\n'
    const overrides = { listen: { port: 2 }, store: { masterKey: 'k' }, admin: { key: '0123456789abcdef' } }
    const config = right(text, { overrides })
    assert.deepEqual([config.listen.host, config.listen.port], ['::1', 2])
    assert.deepEqual(config.store, { url: `sqlite:${join(folder, 'here.db')}`, masterKey: 'k' })
    assert.equal(config.admin.key, '0123456789abcdef')
    assert.equal(right(text, { overrides: { store: { url: 'memory:' } } }).store.url, 'memory:')
    assert.equal(right(text, { overrides: { listen: { grpcPort: false } } }).listen.grpcPort, false)
  })

  it('leaves alone what it does not name', () => {
    assert.deepEqual(right(undefined, { overrides: { listen: {}, store: {}, admin: {} } }).store, { url: 'sqlite:' })
  })
})
