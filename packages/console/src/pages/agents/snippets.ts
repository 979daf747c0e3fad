/**
 * How programs of others call an agent, ready to be pasted. Each is complete and runs as it stands; with a key, the key comes
 * from the variable PARLEY_KEY, so that none is ever written into a page, a file or a shell's history.
 */
import { fillFreshId, freshId } from '../../parts/fresh-id.ts'

export interface SnippetParts {
  /** Where the agent is: `https://hub.example.com/a2a/analyst`. */
  readonly url: string
  /** Where its card is. */
  readonly card: string
  /** Where the hub is: `https://hub.example.com`. */
  readonly hub: string
  /** Its name on the hub. */
  readonly agent: string
  readonly text: string
  readonly withKey: boolean
}

export interface Snippet {
  readonly id: string
  readonly label: string
  /** What has to be there before, and what is worth knowing. */
  readonly note: string
  readonly code: string
}

export function snippets(parts: SnippetParts): readonly Snippet[] {
  return [
    {
      id: 'curl',
      label: 'curl',
      note: 'A2A 1.0 over JSON-RPC. Each run sends a new message: a retry would send the same messageId and content again.',
      code: curl(parts),
    },
    {
      id: 'curl-stream',
      label: 'curl, streaming',
      note: 'A2A 1.0: events come as they happen.',
      code: curlStream(parts),
    },
    { id: 'curl-rest', label: 'curl, REST', note: 'A2A 1.0 over HTTP+JSON.', code: curlRest(parts) },
    { id: 'curl-0.3', label: 'curl, 0.3', note: 'For whatever still speaks A2A 0.3.', code: curlOld(parts) },
    { id: 'parley', label: 'Parley client', note: 'npm install @parley/a2a', code: parleyClient(parts) },
    { id: 'a2a-js', label: '@a2a-js/sdk', note: 'npm install @a2a-js/sdk', code: a2aJs(parts) },
    { id: 'python', label: 'Python', note: 'pip install a2a-sdk', code: python(parts) },
    {
      id: 'mcp-http',
      label: 'MCP, HTTP',
      note: `The agents of this hub as tools: ask for “${parts.agent}”. For clients that speak streamable HTTP.`,
      code: mcpHttp(parts),
    },
    {
      id: 'mcp-stdio',
      label: 'MCP, program',
      note: 'The same for clients that start a program and speak over stdio.',
      code: mcpStdio(parts),
    },
  ]
}

function curl(parts: SnippetParts): string {
  return curlOf(parts, parts.url, { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message: message(parts) } })
}

function curlStream(parts: SnippetParts): string {
  const body = { jsonrpc: '2.0', id: 1, method: 'SendStreamingMessage', params: { message: message(parts) } }
  return curlOf(parts, parts.url, body, { isStream: true })
}

function curlRest(parts: SnippetParts): string {
  return curlOf(parts, `${parts.url}/message:send`, { message: message(parts) })
}

function curlOld(parts: SnippetParts): string {
  const { text } = parts
  const said = { kind: 'message', messageId: freshId, role: 'user', parts: [{ kind: 'text', text }] }
  const body = { jsonrpc: '2.0', id: 1, method: 'message/send', params: { message: said } }
  return curlOf(parts, parts.url, body, { version: '0.3' })
}

function message({ text }: SnippetParts): object {
  return { messageId: freshId, role: 'ROLE_USER', parts: [{ text }] }
}

interface CurlOptions {
  readonly version?: string
  readonly isStream?: boolean
}

function curlOf(
  { withKey }: SnippetParts,
  url: string,
  body: object,
  { version = '1.0', isStream = false }: CurlOptions = {},
): string {
  return [
    `curl ${isStream ? '-N ' : ''}${quoted(url)}`,
    `-H 'Content-Type: application/json'`,
    `-H 'A2A-Version: ${version}'`,
    ...(withKey ? ['-H "Authorization: Bearer $PARLEY_KEY"'] : []),
    `-d ${fillFreshId(quoted(JSON.stringify(body)))}`,
  ].join(' \\\n  ')
}

/** For a shell: what stands between single quotes means nothing but itself. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

function parleyClient({ url, text, withKey }: SnippetParts): string {
  const options = withKey ? ', { bearer: process.env.PARLEY_KEY }' : ''
  return `import { connect } from '@parley/a2a/client'

const agent = await connect(${literal(url)}${options})

for await (const chunk of agent.stream(${literal(text)}).text()) process.stdout.write(chunk)
`
}

function a2aJs({ card, text, withKey }: SnippetParts): string {
  const names = withKey
    ? '{\n  ClientFactory,\n  ClientFactoryOptions,\n  DefaultAgentCardResolver,\n  JsonRpcTransportFactory,\n}'
    : '{ ClientFactory }'
  return `import { SendMessageRequest } from '@a2a-js/sdk'
import ${names} from '@a2a-js/sdk/client'

${withKey ? a2aJsWithKey : 'const factory = new ClientFactory()'}
const client = await factory.createFromUrl(${literal(card)}, '')

const answer = await client.sendMessage(
  SendMessageRequest.fromJSON({
    message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: ${literal(text)} }] },
  }),
)
console.log(JSON.stringify(answer, null, 2))
`
}

const a2aJsWithKey = `const fetchImpl: typeof fetch = (input, init) => {
  const headers = new Headers(init?.headers)
  headers.set('Authorization', \`Bearer \${process.env.PARLEY_KEY}\`)
  return fetch(input, { ...init, headers })
}
const factory = new ClientFactory(
  ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
    transports: [new JsonRpcTransportFactory({ fetchImpl })],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
  }),
)`

function python({ url, text, withKey }: SnippetParts): string {
  const headers = `, headers={"Authorization": f"Bearer {os.environ['PARLEY_KEY']}"}`
  return `import asyncio
${withKey ? 'import os\n' : ''}
import httpx

from a2a.client import ClientConfig, create_client
from a2a.helpers import get_stream_response_text, new_text_message
from a2a.types import Role, SendMessageRequest


async def main():
    async with httpx.AsyncClient(timeout=60${withKey ? headers : ''}) as http:
        client = await create_client(${literal(url)}, ClientConfig(httpx_client=http))
        message = new_text_message(${literal(text)}, role=Role.ROLE_USER)
        async for event in client.send_message(SendMessageRequest(message=message)):
            print(get_stream_response_text(event), end="", flush=True)


asyncio.run(main())
`
}

/** JSON's way to write a text is also that of JavaScript and of Python. */
function literal(text: string): string {
  return JSON.stringify(text)
}

function mcpHttp({ hub, withKey }: SnippetParts): string {
  const server = {
    type: 'http',
    url: `${hub}/mcp`,
    ...(withKey ? { headers: { Authorization: 'Bearer ${PARLEY_KEY}' } } : {}),
  }
  return JSON.stringify({ mcpServers: { parley: server } }, null, 2)
}

function mcpStdio({ hub, withKey }: SnippetParts): string {
  const server = {
    command: 'npx',
    args: ['-y', '@parley/hub', 'mcp', '--hub', hub],
    ...(withKey ? { env: { PARLEY_KEY: 'the key' } } : {}),
  }
  return JSON.stringify({ mcpServers: { parley: server } }, null, 2)
}
