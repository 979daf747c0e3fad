import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { agentKinds } from '../agents/kinds.ts'
import { RouteError } from '../http/json-response.ts'
import { redactConfigText, restoreConfigText } from './redact-config-text.ts'

const text = `# Ours.
store: { url: 'postgres://user:pass-of-ours@db/parley', masterKey: "m-of-ours" }
agents:
  gpt: { kind: openai, baseUrl: https://x.example, model: m, apiKey: k-of-ours } # dear
  env: { kind: openai, baseUrl: https://x.example, model: m, apiKey: "\${env:KEY}" }
  peer:
    kind: a2a
    url: https://peer.example/?page=1&key=u-of-ours
    headers:
      X-Token: h-of-ours
  tool:
    kind: command
    command: [tool, --api-key, c-of-ours, --verbose]
signing:
  # The one that signs.
  key: |
    -----BEGIN-----
    s-of-ours
  previous:
    - p-of-ours
    - q-of-ours
access: { anonymous: '*' }
`

const shown = redactConfigText(text, agentKinds)
const restored = (edited: string): string => {
  const answer = restoreConfigText(edited, text, agentKinds)
  assert.ok('text' in answer, JSON.stringify(answer))
  return answer.text
}
const problemsOf = (edited: string) => {
  const answer = restoreConfigText(edited, text, agentKinds)
  return 'problems' in answer ? answer.problems.map(({ path, line }) => [path.join('.'), line]) : []
}

describe('a configuration without its secrets', () => {
  it('is the text as it is written, with comments and references, and no secret', () => {
    assert.doesNotMatch(shown, /of-ours/)
    assert.ok(
      shown.startsWith('# Ours.\nstore: { url: "postgres://user:(not shown)@db/parley", masterKey: "(not shown)" }\n'),
    )
    assert.match(shown, /apiKey: "\(not shown\)" \} # dear\n/)
    assert.match(shown, /apiKey: "\$\{env:KEY\}"/)
    assert.match(shown, /url: "https:\/\/peer\.example\/\?page=1&key=\(not shown\)"\n/)
    assert.match(shown, /command: \[tool, --api-key, "\(not shown\)", --verbose\]\n/)
    assert.match(shown, /X-Token: "\(not shown\)"\n/)
    assert.match(shown, /# The one that signs\.\n {2}key: "\(not shown\)"\n {2}previous:\n {4}- "\(not shown\)"\n/)
    assert.match(shown, /anonymous: '\*'/)
  })

  it('becomes the same again when nothing was edited', () => {
    const again = restored(shown)
    assert.equal(redactConfigText(again, agentKinds), shown)
    // A block scalar does not fit into every line where it may have to be restored.
    const written = text.replace(/key: \|\n( {4}.*\n)+/, String.raw`key: "-----BEGIN-----\ns-of-ours\n"` + '\n')
    assert.equal(again, written)
  })

  it('keeps its secrets where other things are edited, added and moved', () => {
    const edited = shown
      .replace('model: m,', 'model: better,')
      .replace('agents:\n', 'agents:\n  echo: { kind: demo }\n')
    assert.match(restored(edited), /model: better, apiKey: k-of-ours/)
    assert.match(restored(`limits: { perKey: 1/s }\n${shown}`), /^limits.*\n# Ours/)
    // A rate per key is not a key.
    assert.equal(redactConfigText('limits: { perKey: 1/s }\n', agentKinds), 'limits: { perKey: 1/s }\n')
  })

  it('takes a new secret for an old one', () => {
    assert.match(restored(shown.replace('"(not shown)" } # dear', 'new-one } # dear')), /apiKey: new-one \} # dear/)
  })

  it('puts no secret where it was not, and says which are to be said again', () => {
    assert.deepEqual(problemsOf(shown.replace('  gpt:', '  gpt5:')), [['agents.gpt5.apiKey', 4]])
    assert.deepEqual(problemsOf(shown.replace('"${env:KEY}"', '"(not shown)"')), [['agents.env.apiKey', 5]])
    assert.deepEqual(problemsOf(shown.replace('user:(not shown)@db/', 'user:(not shown)@elsewhere/')), [
      ['store.url', 2],
    ])
  })

  it('knows what is in a list by its place, and takes no chances there', () => {
    const one = '    - "(not shown)"\n'
    assert.equal(problemsOf(shown.replace(one, `${one}${one}`)).length, 3)
    assert.equal(problemsOf(shown.replace(one, '')).length, 1)
    assert.equal(problemsOf(shown.replace(one, '    - other\n')).length, 1)
  })

  it('is not returned for a text that cannot be parsed, because its secrets are not known', () => {
    const broken = ['agents: [', 'x: &a { y: *a }', 'admin: { key: a }\nadmin: { key: b }']
    for (const text of broken) {
      assert.throws(
        () => redactConfigText(`${text}\napiKey: hunter2-hunter2\n`, agentKinds),
        (error) => {
          assert.ok(error instanceof RouteError && error.code === 'CONFLICT')
          return !error.message.includes('hunter2')
        },
      )
    }
    assert.equal(redactConfigText('', agentKinds), '')
  })

  it('is restored where its placeholder is escaped or folded', () => {
    const current = 'admin: { key: hunter2-hunter2 }\n'
    for (const placeholder of ['"\\u0028not shown)"', '"(not\n  shown)"'])
      assert.match(
        JSON.stringify(restoreConfigText(`admin: { key: ${placeholder} }\n`, current, agentKinds)),
        /hunter2/,
      )
  })
})
