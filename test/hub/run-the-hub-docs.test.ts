/** The pages on running the hub are correct: their files are valid, and they document every setting and every command. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { agentKinds } from '../../packages/hub/src/agents/kinds.ts'
import { commands } from '../../packages/hub/src/cli/commands.ts'
import { agentFields } from '../../packages/hub/src/config/sections/agent-fields.ts'
import { checkConfig } from '../../packages/hub/src/config/check-config.ts'
import { parseConfigDocument } from '../../packages/hub/src/config/config-document.ts'
import { settingEffects, type TakesEffect } from '../../packages/hub/src/config/diff-config.ts'
import { formatPath } from '../../packages/hub/src/config/config-problem.ts'
import { configSchema, toJsonSchema } from '../../packages/hub/src/config/json-schema.ts'
import type { JsonSchema } from '../../packages/hub/src/config/json-schema.ts'

const pages = [
  'guides/run-the-hub.md',
  'guides/configure-agents.md',
  'guides/cards-and-grpc.md',
  'guides/connection-limits.md',
  'guides/legacy-v03-draft.md',
  'reference/hub-settings.md',
]
const page = pages.map((path) => readFileSync(join(import.meta.dirname, '../../docs', path), 'utf8')).join('\n')
/** Words in code spans, so that `name` does not match a sentence about names. */
const words = new Set(
  [...page.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/`([^`\n]+)`/g)].flatMap(
    ([, code = '']) => code.match(/\w+/g) ?? [],
  ),
)

function accept(text: string): void {
  const document = parseConfigDocument(text, { API_KEY: 'k', OPENCLAW_TOKEN: 't' })
  assert.deepEqual(document.problems, [])
  const checked = checkConfig(document.tree, { kinds: agentKinds, baseDir: '/srv/parley' })
  const problems =
    'problems' in checked ? checked.problems.map(({ path, message }) => `${formatPath(path)}: ${message}`) : []
  assert.deepEqual(problems, [])
}

/** The complete example configuration. */
const wholeHub = `
listen: { host: 127.0.0.1, port: 3000, grpcPort: 3001 }
store: sqlite:./.parley/parley.db            # or postgres://user@host/parley
agents:
  greeter:  { kind: module,  path: ./greeter.ts, default: true }
  gpt:      { kind: openai,  baseUrl: https://api.example.com/v1, model: some-model, apiKey: "\${env:API_KEY}" }
  analyst:  { kind: loop,    model: gpt, tools: [{ mcp: { command: [npx, some-mcp-server] } }, { agent: greeter }, { client: true }] }
  coder:    { kind: acp,     command: [some-acp-agent], cwd: ./repo }
  script:   { kind: command, command: [node, agent.js], protocol: jsonl }
  search:   { kind: mcp,     url: https://tools.example.com/mcp, allow: [search] }
  partner:  { kind: a2a,     url: https://partner.example.com, verify: require }
  bot:      { kind: openclaw, url: ws://127.0.0.1:18789, token: "\${env:OPENCLAW_TOKEN}", agent: main }
access:
  anonymous: [greeter]
  jwt: [{ issuer: https://id.example.com, audience: parley, scopes: { analysts: [agent:analyst] } }]
limits: { perKey: 60/min, perAgent: { gpt: { concurrent: 8 } } }
retention: { finished: 30d, max: 100000 }
`

describe('the documented configuration', () => {
  it('is valid as written, with an agent of each kind', () => accept(wholeHub))

  it('is valid wherever the pages contain one', () => {
    const shown = [...page.matchAll(/^```yaml\n([\s\S]*?)^```/gm)].map(([, text = '']) => text)
    assert.ok(shown.length >= 4)
    for (const text of shown) accept(text)
  })
})

describe('the pages on running the hub', () => {
  const { properties = {} } = configSchema(agentKinds)

  it('documents every section and every setting', () => {
    const settings = Object.entries(properties).flatMap(([name, section]) =>
      name === 'agents' || name === 'skillBundles' ? [name] : [name, ...fieldsOf(section)],
    )
    assert.ok(settings.includes('tasksPerCaller') && settings.includes('hsts'))
    assert.deepEqual(
      [...new Set(settings)].filter((name) => !words.has(name)),
      [],
    )
  })

  it('documents every field of an entry, and every kind', () => {
    const fields = Object.keys(toJsonSchema(agentFields).properties ?? {})
    const names = [...fields, ...agentKinds.map(({ kind }) => kind)]
    assert.deepEqual(
      names.filter((name) => !words.has(name)),
      [],
    )
  })

  it('documents when a change of each setting takes effect', () => {
    const named = (start: string) =>
      page
        .split('\n')
        .filter((line) => line.includes(`| ${start}`))
        .flatMap((line) => [...(line.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, name]) => name))
    const all = (effect: TakesEffect) => settingEffects.filter(([, own]) => own === effect).map(([name]) => name)
    assert.deepEqual(named('immediately, for'), all('live'))
    assert.deepEqual(named('after a restart.'), all('restart'))
  })

  it('documents every command and every environment variable', () => {
    for (const { name } of commands) for (const word of name.split(' ')) assert.ok(words.has(word), name)
    const settings = readFileSync(join(import.meta.dirname, '../../packages/hub/src/cli/cli-settings.ts'), 'utf8')
    const variables = [...settings.matchAll(/'((?:PARLEY_|BIND_|GRPC_)?[A-Z]+(?:_[A-Z]+)*)'/g)].map(
      ([, name = '']) => name,
    )
    assert.ok(variables.includes('BIND_HOST'))
    assert.deepEqual(
      variables.filter((name) => !words.has(name)),
      [],
    )
  })
})

function fieldsOf(schema: JsonSchema): readonly string[] {
  const shapes = [schema, ...(schema.anyOf ?? []), ...(schema.items === undefined ? [] : [schema.items])]
  return shapes.flatMap(({ properties = {} }) =>
    Object.entries(properties).flatMap(([name, part]) => [name, ...fieldsOf(part)]),
  )
}
