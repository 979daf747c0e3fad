/** An agent on loopback that requires what its card declares, and records the credentials of every request. */
import { after } from 'node:test'
import { memoryStore, type SecurityScheme } from '@parley/a2a'
import type { SecurityRequirement } from '@parley/a2a/internal'
import { serve, type ServeOptions, type Server } from '@parley/a2a/node'
import type { Call } from '@parley/a2a/server'

const quiet = { debug() {}, info() {}, warn() {}, error() {} }

export interface ProtectedAgent {
  readonly url: string
  /** The credentials of each call, not of requests for the card. */
  readonly calls: Call[]
  readonly server: Server
}

export interface ProtectedAgentOptions {
  readonly schemes?: { readonly [name: string]: SecurityScheme }
  /** Alternatives, each a list of schemes with their scopes. Default: each scheme alone. */
  readonly requires?: readonly { readonly [name: string]: readonly string[] }[]
  /** Whether a call is admitted. Default: every one. */
  accepts?(call: Call): boolean
  readonly serve?: Partial<ServeOptions>
}

export async function startProtectedAgent(options: ProtectedAgentOptions = {}): Promise<ProtectedAgent> {
  const { schemes, requires, accepts = () => true } = options
  const calls: Call[] = []
  const securityRequirements = (
    requires ?? Object.keys(schemes ?? {}).map((name): { [name: string]: readonly string[] } => ({ [name]: [] }))
  ).map((alternative): SecurityRequirement => ({
    schemes: Object.fromEntries(Object.entries(alternative).map(([name, list]) => [name, { list }])),
  }))
  const server = await serve({
    name: 'Protected',
    port: 0,
    store: memoryStore(),
    quiet: true,
    log: quiet,
    agent: ({ text }: { readonly text: string }) => `Hello, ${text}!`,
    authenticate(call: Call) {
      calls.push(call)
      return accepts(call) ? { id: 'alice' } : undefined
    },
    ...(schemes !== undefined ? { securitySchemes: schemes, securityRequirements } : {}),
    ...options.serve,
  } as ServeOptions)
  after(() => server.close())
  return { url: server.url, calls, server }
}

export const bearerOf = ({ header }: Call): string | undefined => header('authorization')?.replace(/^Bearer /, '')
