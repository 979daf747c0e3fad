/** The documents are correct: every link resolves, and docs/guides/serve-options.md or the guides on calling an agent document every option. */
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { defaultClientLimits } from '../packages/a2a/src/client/call-options.ts'

const root = join(import.meta.dirname, '..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

/** The links of a page that stay in the repository; fenced code is not prose. */
function relativeLinks(page: string): readonly string[] {
  const prose = page.replace(/^```[\s\S]*?^```/gm, '')
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link]) => (link as string).split('#')[0] as string)
    .filter((link) => link !== '' && !/^[a-z]+:/i.test(link))
}

/** The names of the properties of an interface, or of a type that adds some, as it is written in the source. */
function propertiesOf(name: string, source: string): readonly string[] {
  const head = new RegExp(`export (?:interface|type) ${name}\\b`).exec(source)
  assert.ok(head, `${name} is not there any more: this test must follow it`)
  const rest = source.slice(head.index)
  const body = rest.slice(0, /^ *\}$/m.exec(rest)?.index)
  return [...body.matchAll(/^ +readonly (\w+)\??:/gm)].map(([, property]) => property as string)
}

describe('the documents', () => {
  const pages = globSync('**/*.md', { cwd: root, exclude: ['**/node_modules/**', '**/dist/**'] })

  it('have no dead links', () => {
    assert.ok(pages.includes('README.md'))
    const dead = pages.flatMap((page) =>
      relativeLinks(read(page))
        .filter((link) => !existsSync(join(root, dirname(page), link)))
        .map((link) => `${page} links to ${link}`),
    )
    assert.deepEqual(dead, [])
  })

  it('would notice a dead link', () => {
    const page = 'See [a](a.md#part), [web](https://example.com), [here](#part).\n```md\n[no](no.md)\n```\n'
    assert.deepEqual(relativeLinks(page), ['a.md'])
  })

  /** Every word in a code span, so that `name` does not match a sentence about names. */
  const wordsIn = (text: string): ReadonlySet<string> =>
    new Set([...text.matchAll(/`([^`\n]+)`/g)].flatMap(([, code]) => (code as string).match(/\w+/g) ?? []))
  const serving = read('docs/guides/serve-options.md')
  const settings = wordsIn(serving.slice(serving.indexOf('\n## Settings')))
  const clientGuides = ['clients', 'client-streams', 'client-auth', 'conversations', 'webhook-receiver', 'client-http']
  const clients = clientGuides.map((name) => read(`docs/guides/${name}.md`)).join('\n')
  const calling = wordsIn(clients.replaceAll(/^```[\s\S]*?^```/gm, ''))

  const options = read('packages/a2a/src/server/options.ts')
  const engine = read('packages/a2a/src/engine/contract.ts')
  const client = read('packages/a2a/src/client/contract.ts')
  const calls = read('packages/a2a/src/client/call-options.ts')
  const auth = read('packages/a2a/src/client/auth/contract.ts')
  const pushing = read('packages/a2a/src/server/push/push-options.ts')
  const webhooks = wordsIn(read('docs/guides/push.md').replaceAll(/^```[\s\S]*?^```/gm, ''))
  const sources: readonly [name: string, source: string, known: string, words: ReadonlySet<string>][] = [
    ['AgentSettings', options, 'inputModes', settings],
    ['AgentOptions', engine, 'turnTimeoutMs', settings],
    ['ServerOptions', options, 'publicUrl', settings],
    ['Limits', options, 'bodyBytes', settings],
    ['EngineLimits', engine, 'parts', settings],
    ['EngineRetention', engine, 'finishedMs', settings],
    ['ServeOptions', read('packages/a2a/src/server/serve-options.ts'), 'drainMs', settings],
    ['ConnectOptions', client, 'prefer', calling],
    ['ClientLimits', read('packages/a2a/src/client/call-options.ts'), 'pollMs', calling],
    ['CallOptions', calls, 'timeoutMs', calling],
    ['StreamOptions', calls, 'lastEventId', calling],
    ['SendOptions', client, 'referenceTaskIds', calling],
    ['ConversationOptions', client, 'maxRounds', calling],
    ['InvokeOptions', client, 'skill', calling],
    ['EventStream', client, 'relatedTaskIds', calling],
    ['OAuthOptions', auth, 'trust', calling],
    ['WebhookOptions', read('packages/a2a/src/server/webhook/webhook-options.ts'), 'jwks', calling],
    ['PushOptions', pushing, 'scheduleMs', webhooks],
    ['PushJwtOptions', pushing, 'issuer', webhooks],
    ['WebhookGuardOptions', read('packages/a2a/src/client/egress/guarded-fetch.ts'), 'only', webhooks],
    ['GuardOptions', read('packages/a2a/src/client/egress/guarded-fetch.ts'), 'allowHttp', calling],
  ]

  for (const [name, source, known, words] of sources) {
    it(`name every one of ${name} among the settings`, () => {
      const properties = propertiesOf(name, source)
      assert.ok(properties.includes(known), `${name} was not read rightly: ${properties.join(', ')}`)
      assert.deepEqual(
        properties.filter((property) => !words.has(property)),
        [],
      )
    })
  }

  it('have the limits of a client', () => {
    const rows = [...clients.matchAll(/^\| `(\w+)` \| ([\d,]+) \|/gm)]
    const documented = Object.fromEntries(rows.map(([, name, value = '']) => [name, Number(value.replaceAll(',', ''))]))
    assert.deepEqual(documented, defaultClientLimits)
  })
})
