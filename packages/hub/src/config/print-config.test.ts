/** Printed configurations contain all effective values and no secret. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parse } from 'yaml'
import { z } from 'zod'
import type { AgentKind } from '../agents/kind.ts'
import { parseConfigDocument } from './config-document.ts'
import { checkConfig } from './check-config.ts'
import { hiddenText, printConfig } from './print-config.ts'
import { duration, secret } from './values.ts'

const fake: AgentKind = {
  kind: 'fake',
  schema: z.strictObject({
    url: z.string().optional(),
    pass: secret.optional(),
    apiKey: z.string().optional(),
    headers: z.record(z.string(), z.string()).optional(),
    extra: z.record(z.string(), z.json()).meta({ writeOnly: true }).optional(),
    keys: z.array(z.string()).optional(),
    wait: duration.prefault('10m'),
  }),
  open: () => ({ agent: () => 'hi' }),
}

type Tree = Record<string, Record<string, Record<string, unknown>>>

function print(text: string, environment: Record<string, string> = {}): { readonly text: string; readonly tree: Tree } {
  const printed = printConfig(parseConfigDocument(text, environment), [fake])
  return { text: printed, tree: parse(printed) as Tree }
}

describe('a printed configuration', () => {
  it('shows no secret: neither what is one by its schema, nor by its name, nor out of the environment', () => {
    const { text, tree } = print(
      `
store: postgres://me:sesame@db/parley
admin: { key: sesame-sesame-sesame }
agents:
  a:
    kind: fake
    url: "https://\${env:HOST}/x"
    pass: sesame
    apiKey: sesame
    headers: { X-Any: sesame }
    extra: { deep: [sesame, { er: sesame }], on: true }
    keys: [shown]
`,
      { HOST: 'sesame' },
    )
    assert.ok(!text.includes('sesame'), text)
    assert.equal(tree['store'], `postgres://me:${hiddenText}@db/parley`)
    assert.deepEqual(tree['agents']?.['a']?.['headers'], { 'X-Any': hiddenText })
    assert.deepEqual(tree['agents']?.['a']?.['extra'], { deep: [hiddenText, { er: hiddenText }], on: true })
    assert.equal(tree['agents']?.['a']?.['url'], 'https://${env:HOST}/x')
    assert.deepEqual(tree['agents']?.['a']?.['keys'], ['shown'])
  })

  it('shows no secret that stands in an address, in a command or beside a reference', () => {
    const { text, tree } = print(
      `
agents:
  a: { kind: fake, url: "https://user:sesame@x.test/a?page=1&key=sesame" }
  b: { kind: fake, url: "https://\${env:HOST}/?token=sesame&u=\${env:HOST}" }
  c: { kind: command, command: [agent, --api-key, sesame, --token=sesame, --port, "80", --url, "wss://x?sig=sesame"] }
  d: { kind: acp, command: "agent --token sesame MY_API_KEY=sesame --port 80" }
  e: { kind: mcp, command: npx, args: [server, --secret, sesame, "\${env:HOST}"] }
`,
      { HOST: 'other' },
    )
    assert.ok(!text.includes('sesame') && !text.includes('other'), text)
    const agents = tree['agents'] ?? {}
    assert.equal(agents['a']?.['url'], `https://user:${hiddenText}@x.test/a?page=1&key=${hiddenText}`)
    assert.equal(agents['b']?.['url'], `https://\${env:HOST}/?token=${hiddenText}&u=\${env:HOST}`)
    assert.deepEqual(agents['c']?.['command'], [
      ...[
        'agent',
        '--api-key',
        hiddenText,
        `--token=${hiddenText}`,
        '--port',
        '80',
        '--url',
        `wss://x?sig=${hiddenText}`,
      ],
    ])
    assert.equal(agents['d']?.['command'], `agent --token ${hiddenText} MY_API_KEY=${hiddenText} --port 80`)
    assert.deepEqual(agents['e']?.['args'], ['server', '--secret', hiddenText, '${env:HOST}'])
  })

  it('shows defaults, also those of the kind', () => {
    const { tree } = print('agents: { a: { kind: fake } }')
    assert.deepEqual(tree['listen'], { host: '127.0.0.1', port: 3000 })
    assert.deepEqual(tree['agents']?.['a'], {
      kind: 'fake',
      wait: '10m',
      default: false,
      card: 'public',
      inputTimeout: '7d',
    })
  })

  it('is a configuration itself', () => {
    const { tree } = print('agents: { a: { kind: fake, limits: { concurrent: 2 } } }\naccess: { anonymous: [a] }\n')
    const checked = checkConfig(tree, { kinds: [fake], baseDir: '/' })
    assert.ok('config' in checked, JSON.stringify(checked))
    assert.deepEqual(checked.config.agents['a']?.limits, { concurrent: 2 })
  })
})
