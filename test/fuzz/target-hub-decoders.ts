/** Decoders of the hub: its configuration, hop tokens, and the credentials of a request. */
import assert from 'node:assert/strict'
import { createLocalJWKSet, SignJWT } from 'jose'
import { A2AError } from '@parley/a2a'
import { agentKinds } from '../../packages/hub/src/agents/kinds.ts'
import { createTokenCheck, looksLikeJwt } from '../../packages/hub/src/auth/token-check.ts'
import { keyIdOf, generateKey } from '../../packages/hub/src/auth/key-format.ts'
import { loadConfig } from '../../packages/hub/src/config/load-config.ts'
import { printConfig } from '../../packages/hub/src/config/print-config.ts'
import { hopPurpose, signHopToken, verifyHopToken } from '../../packages/hub/src/delegation/hop-token.ts'
import { testKeys } from '../../packages/hub/src/delegation/testing/test-delegation.ts'
import { bytesOfJson, bytesOfText } from './guided/target.ts'
import type { FuzzTarget } from './guided/target.ts'
import { hostileWords } from './vocabulary.ts'

const configSeeds = [
  'agents:\n  echo: { kind: demo, agent: echo, default: true }\n',
  'listen: { host: 127.0.0.1, port: 3000, grpcPort: false }\nadmin: { key: ${env:ADMIN_KEY} }\nagents:\n  gpt: { kind: openai, baseUrl: http://127.0.0.1:4010/v1, model: m, apiKey: ${env:KEY}, headers: { x: y } }\n',
  'store: sqlite:x.db\nlimits: { perKey: 60/min, body: 20MB, wait: 10m, perAgent: { a: { rate: 1/s, concurrent: 2, queue: 3 } } }\nretention: { finished: 30d, max: 100, log: 1h }\nidempotency: { window: off }\nagents: {}\n',
  'agents:\n  a: { kind: a2a, url: https://other.example.com, auth: { bearer: t } }\n  b: { kind: command, command: [wc, -w], env: { A: b } }\n  c: { kind: mcp, url: https://mcp.example.com }\n  d: { kind: module, path: ./x.ts, skills: [{ id: s, name: S, tags: [t] }] }\n',
  'x: &x { kind: demo, agent: echo }\nagents: { a: *x, b: *x }\n',
  'access: { jwt: [{ issuer: https://id.example.com, audience: parley, scopes: { staff: [agent:*] } }] }\npublicUrl: https://hub.example.com\nsigning: true\npush: { schedule: [1s, 5s], jwt: true }\nmcp: { tools: agents, wait: 20s, remote: false }\nroutes: [{ from: a, to: b, when: { text: x } }]\ntelemetry: { otlp: http://127.0.0.1:4318 }\nagents: { a: { kind: demo, agent: echo, open: true } }\n',
]

const configWords = [
  ...'agents listen store limits retention idempotency access admin publicUrl signing push mcp routes telemetry profiles cors'.split(
    ' ',
  ),
  ...'health delegation prices trustProxy grpcUrl kind module openai loop command acp a2a openclaw demo perKey perAgent'.split(
    ' ',
  ),
  ...'${env:KEY} ${env:NONE} ${file:x} $${ & * ! | > - ? : # --- ... "\\x" !!binary !!set << &a *a [ ] { } 1_000 0o17 0x1F .inf .nan ~'.split(
    ' ',
  ),
  '\n  ',
  '\n- ',
  ': ',
]

const secret = 'hunter2-hunter2'

/** A text becomes a configuration or problems; what is shown of it holds no secret. */
const config: FuzzTarget = {
  name: 'config',
  format: 'text',
  weight: 1,
  isSync: true,
  // The operator's own text, and as large as the operator makes it: it may take its time, but only in proportion.
  mostBlockMs: ({ length }) => 200 + length / 50,
  dictionary: [...configWords, ...hostileWords],
  seeds: () => configSeeds.map(bytesOfText),
  open: async () => ({
    run(input) {
      const text = new TextDecoder().decode(input)
      const environment = { KEY: secret, ADMIN_KEY: secret }
      const loaded = loadConfig({ text, fallback: {}, environment, cwd: '/nowhere', kinds: agentKinds })
      if ('problems' in loaded) return assert.ok(loaded.problems.every(({ message }) => message !== ''))
      const shown = printConfig(loaded, agentKinds)
      assert.ok(!shown.includes(secret), 'the printed configuration shows a secret of the environment')
    },
  }),
}

const issuer = 'https://hub.test'
const audience = 'https://other.test#agent'
const now = Date.UTC(2026, 0, 1)

const sound = {
  iss: issuer,
  sub: 'ann',
  aud: audience,
  jti: 'm1',
  iat: now / 1_000,
  exp: now / 1_000 + 300,
  root: 't0',
  par: 't1',
  dep: 1,
  vis: [`${issuer}#front`],
  bud: { tasks: 5 },
  scp: { 'agent:*': ['*'] },
  dl: now + 60_000,
}

/** A token as it stands, or `{ claims, header }` that a trusted hub signs: the signature alone does not make the claims valid. */
const hopToken: FuzzTarget = {
  name: 'hop-token',
  format: 'json',
  weight: 1,
  dictionary: [
    ...Object.keys(sound),
    ...hostileWords,
    issuer,
    audience,
    'prv',
    'claims',
    'header',
    'kid',
    'alg',
    'none',
    'typ',
    'token',
  ],
  seeds: () => [
    bytesOfJson({ claims: sound }),
    bytesOfJson({ claims: { ...sound, prv: 'eyJhbGciOiJub25lIn0.eyJpc3MiOiJodHRwczovL2h1Yi50ZXN0In0.' } }),
    bytesOfJson({ claims: sound, header: { kid: 'push.1' } }),
    bytesOfJson({ token: 'eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJodHRwczovL2h1Yi50ZXN0In0.AAAA' }),
  ],
  async open() {
    const keys = await testKeys()
    const { privateKey, kid } = await keys.signer()
    const known = createLocalJWKSet((await keys.jwks()) as never)
    const reading = {
      keysOf: (from: string) => (from === issuer ? known : undefined),
      audience,
      messageId: 'm1',
      referenceTaskIds: ['t1'],
      now,
    }
    // A valid token is accepted, which shows that not everything is refused.
    const chain = { root: 't0', subject: 'ann', parent: 't1', visited: [`${issuer}#front`], tasks: 5, scopes: {} }
    const good = await signHopToken(chain, { issuer, audience, messageId: 'm1', now }, { kid, privateKey })
    assert.equal((await verifyHopToken(good, reading)).chain.subject, 'ann')
    return {
      async run(input) {
        const order = parsed(input)
        const token = typeof order['token'] === 'string' ? order['token'] : await signed(order)
        try {
          const { chain: read } = await verifyHopToken(token, reading)
          assert.ok(read.tasks >= 0 && read.visited.length >= 1, 'a chain that cannot be')
        } catch (reason) {
          if (!(reason instanceof A2AError) || reason.code === 'INTERNAL') throw reason
        }
      },
    }

    async function signed({ claims, header }: Readonly<Record<string, unknown>>): Promise<string> {
      const said = { alg: 'ES256', typ: 'parley-hop+jwt', kid, ...(isObject(header) ? header : {}) }
      try {
        return await new SignJWT(isObject(claims) ? claims : {})
          .setProtectedHeader({ ...said, alg: 'ES256' })
          .sign(privateKey)
      } catch {
        // A token that cannot be signed cannot be sent.
        return `${hopPurpose}.x.y`
      }
    }
  },
}

const soundKey = generateKey().key

/** The value after `Bearer`: a key by its format, or a token of an issuer. */
const credentials: FuzzTarget = {
  name: 'credentials',
  format: 'text',
  weight: 1,
  dictionary: [
    'pk_',
    'pka_',
    '_',
    '.',
    '..',
    'eyJhbGciOiJFUzI1NiIsImtpZCI6ImhvcC50ZXN0In0',
    'eyJhbGciOiJub25lIn0',
    'eyJpc3MiOiJodHRwczovL2h1Yi50ZXN0In0',
    ...hostileWords,
  ],
  seeds: () =>
    [
      soundKey,
      'eyJhbGciOiJFUzI1NiIsImtpZCI6ImhvcC50ZXN0In0.eyJpc3MiOiJodHRwczovL2h1Yi50ZXN0IiwiYXVkIjoicGFybGV5In0.AAAA',
      'pk_a_b',
      '',
    ].map(bytesOfText),
  async open() {
    const jwks = JSON.stringify(await (await testKeys()).jwks())
    const entry = { issuer, audience: 'parley', jwks: `${issuer}/keys` }
    const fetch = async () => new Response(jwks, { headers: { 'content-type': 'application/json' } })
    const check = createTokenCheck([entry], fetch)
    assert.ok(keyIdOf(soundKey) !== undefined)
    return {
      async run(input) {
        const text = Buffer.from(input).toString('latin1')
        const id = keyIdOf(text)
        if (id !== undefined) assert.equal(text.split('_')[1], id)
        if (!looksLikeJwt(text)) return
        const header = (name: string): string | undefined => (name === 'authorization' ? `Bearer ${text}` : undefined)
        try {
          await check?.(text, { header, agent: 'a', query: '' } as never)
          assert.fail('an unsigned token was accepted')
        } catch (reason) {
          if (!(reason instanceof A2AError) || reason.code !== 'UNAUTHENTICATED') throw reason
        }
      },
    }
  },
}

function parsed(input: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    const value = JSON.parse(new TextDecoder().decode(input)) as unknown
    return isObject(value) ? value : { token: String(value) }
  } catch {
    return { token: Buffer.from(input).toString('latin1') }
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export const targets: readonly FuzzTarget[] = [config, hopToken, credentials]
