/**
 * An agent that behaves as the official A2A conformance kit (a2aproject/a2a-tck) expects of an agent under test.
 *
 *     npm run conformance-agent -- --port 9999 --grpc-port 9998
 *     run_tck.py --sut-host http://localhost:9999 --transport jsonrpc,http_json,grpc     # in the kit, branch 1.0-dev
 *
 * One run cannot see everything, because some rules apply only to agents that lack or require something:
 *
 *     --profile 0.3               tasks stay open, as the kits for 0.2 and 0.3 expect; with 1.0 they complete
 *     --card 1.0|0.3|merged       the card for requests without a version; follows the profile
 *     --grpc-port <port>          serves gRPC too, and declares it on the card
 *     --no-streaming              the card does not offer streams, and none is given
 *     --no-push                   the card does not offer webhooks, and none is called
 *     --allow-loopback-webhooks   calls webhooks on this machine too, where the kit has its own
 *     --required-extension <uri>  the card requires an extension; may be given several times
 *     --extended-card             callers with the token `conformance` see more than the public card
 *     --require-token             callers without that token get nothing but the public card
 */
import { parseArgs } from 'node:util'
import { anonymous, memoryStore } from '@parley/a2a'
import type { Authenticate } from '@parley/a2a/server'
import { serve } from '@parley/a2a/node'
import { openEnded } from './open-ended.ts'
import { scripted } from './scripted.ts'

const { values: flags } = parseArgs({
  options: {
    port: { type: 'string', default: process.env.PORT ?? '9999' },
    'grpc-port': { type: 'string' },
    profile: { type: 'string', default: '1.0' },
    card: { type: 'string' },
    'no-streaming': { type: 'boolean', default: false },
    'no-push': { type: 'boolean', default: false },
    'allow-loopback-webhooks': { type: 'boolean', default: false },
    'required-extension': { type: 'string', multiple: true, default: [] },
    'extended-card': { type: 'boolean', default: false },
    'require-token': { type: 'boolean', default: false },
  },
})

const profile = oneOf('profile', flags.profile, ['1.0', '0.3'])
const card = oneOf('card', flags.card ?? profile, ['1.0', '0.3', 'merged'])

const modes = ['text/plain', 'application/json', 'application/octet-stream']

/** Most kits send no credentials, so they are optional; but wrong ones are rejected. */
const authenticate: Authenticate = ({ header }) => {
  const given = header('authorization')
  if (given === undefined && !flags['require-token']) return anonymous
  return given === 'Bearer conformance' ? { id: 'conformance-kit' } : undefined
}

const server = await serve({
  name: 'Conformance agent',
  description: 'Does what the official conformance kit asks of an agent',
  skills: [{ id: 'conformance', name: 'Conformance', description: 'Plays each scenario of the kit', tags: ['tck'] }],
  port: Number(flags.port),
  ...grpcAt(flags['grpc-port']),
  store: memoryStore(),
  card,
  streaming: !flags['no-streaming'],
  ...(flags['no-push'] ? {} : { push: { allow: flags['allow-loopback-webhooks'] ? ['localhost', '127.0.0.1'] : [] } }),
  extensions: flags['required-extension'].map((uri) => ({ uri, required: true })),
  // The kits use one messageId for many messages, which would otherwise be answered as repeats.
  idempotency: 'off',
  // The 0.3 kit looks for kinds of parts among the media types, and tests only those it finds.
  inputModes: [...modes, ...(card === '0.3' ? ['text', 'file', 'data'] : [])],
  ...(profile === '1.0'
    ? { agent: scripted }
    : // A blocking send on an open-ended task returns early with the current task.
      { agent: openEnded, limits: { waitMs: 200 } }),
  ...(flags['extended-card'] || flags['require-token']
    ? { authenticate, securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } } }
    : {}),
  ...(flags['require-token'] ? { securityRequirements: [{ schemes: { bearer: { list: [] } } }] } : {}),
  ...(flags['extended-card']
    ? { extendedCard: { description: 'Does what the official conformance kit asks, and knows you' } }
    : {}),
})
console.log(`${server.url} serves profile ${profile} with the ${card} card`)
process.once('SIGTERM', () => void server.close())
process.once('SIGINT', () => void server.close())

/** Cards have `host:port`; the kits for 0.3 accept only a url. */
function grpcAt(port: string | undefined): { grpcPort?: number; grpcUrl?: string } {
  if (port === undefined) return {}
  return { grpcPort: Number(port), ...(profile === '0.3' ? { grpcUrl: `http://localhost:${port}` } : {}) }
}

function oneOf<T extends string>(name: string, given: string, choices: readonly T[]): T {
  const found = choices.find((choice) => choice === given)
  if (found === undefined) throw new Error(`--${name} is one of ${choices.join(', ')}`)
  return found
}
