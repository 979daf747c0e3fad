/**
 * The environment of the guides on calling an agent: loaded before each of their programs. `agent.example.com` is an agent of ours, without a
 * socket, and `id.example.com` gives out tokens; other listeners of a program must not keep it from exiting.
 */
import net from 'node:net'
import { clientToolsExtension, inputRequired, memoryStore } from '@parley/a2a'
import type { Report, Turn } from '@parley/a2a'
import { createHandler } from '@parley/a2a/server'

async function* agent({ text, message, history }: Turn): AsyncGenerator<Report> {
  const { tools } = (message.metadata?.[clientToolsExtension] ?? {}) as { tools?: unknown }
  const isResult = message.parts.some((part) => part.metadata?.[clientToolsExtension] !== undefined)
  const said = (await history()).filter(({ role }) => role === 'ROLE_USER')
  if (text.startsWith('Book') && said.length === 1) yield inputRequired('Where to?')
  else if (tools !== undefined && !isResult) {
    const data = { toolUseId: '1', name: 'position', input: {} }
    yield inputRequired({ parts: [{ data, metadata: { [clientToolsExtension]: { type: 'tool-use' } } }] })
  } else if (isResult) yield JSON.stringify(message.parts.at(-1))
  else for (const word of `You said ${text}`.split(' ')) yield `${word} `
}

const handler = createHandler({
  name: 'Example',
  publicUrl: 'https://agent.example.com',
  store: memoryStore(),
  agent,
  authenticate: () => ({ id: 'example|me' }),
  extendedCard: { description: 'As its friends know it' },
})
const issuer = 'https://id.example.com'
const tokens: Readonly<Record<string, object>> = {
  '/.well-known/openid-configuration': {
    issuer,
    token_endpoint: `${issuer}/token`,
    device_authorization_endpoint: `${issuer}/device`,
  },
  '/device': { device_code: 'd', user_code: 'ABCD', verification_uri: `${issuer}/go`, expires_in: 60, interval: 1 },
  '/token': { access_token: 'a-token', token_type: 'Bearer', expires_in: 60 },
}

globalThis.fetch = async (input, init) => {
  const request = new Request(input, init)
  const { host, pathname } = new URL(request.url)
  if (host === 'id.example.com') return Response.json(tokens[pathname])
  if (host === 'agent.example.com') return handler.fetch(request)
  throw new TypeError(`no server at ${host}`)
}

const { listen } = net.Server.prototype
net.Server.prototype.listen = function (this: net.Server, ...args: unknown[]): net.Server {
  const callback = args.find((arg) => typeof arg === 'function')
  this.once('listening', () => this.unref())
  return Reflect.apply(listen, this, [0, '127.0.0.1', ...(callback === undefined ? [] : [callback])]) as net.Server
} as typeof listen

/** The free names of the page. */
Object.assign(globalThis, {
  pdf: new File(['%PDF'], 'report.pdf', { type: 'application/pdf' }),
  prompt: () => 'Lisbon',
  token: 'a-token',
  key: 'a-key',
  username: 'me',
  password: 'a-password',
  clientId: 'me',
  clientSecret: 'a-secret',
  secret: 'a-secret',
  vault: { read: async () => 'a-token' },
  show: () => {},
  sign: (text: string) => String(text.length),
})
