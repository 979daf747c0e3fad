/**
 * Code that calls an agent, ready to paste. Each snippet is complete and runs as is. A key is read from the variable PARLEY_KEY,
 * so that it is never written into a page, a file or a shell's history.
 */
import { fillMessageId, messageIdPlaceholder, shellQuote } from '../../../components/shell/curl.ts'
import { agentsStrings } from '../strings.ts'

export interface SnippetInput {
  /** URL of the agent: `https://hub.example.com/a2a/analyst`. */
  readonly url: string
  /** URL of its card. */
  readonly card: string
  /** URL of the hub: `https://hub.example.com`. */
  readonly hub: string
  /** Its name on the hub. */
  readonly agent: string
  readonly text: string
  readonly withKey: boolean
}

export interface Snippet {
  readonly id: string
  readonly label: string
  /** Prerequisites and hints. */
  readonly note: string
  readonly code: string
}

export function agentSnippets(parts: SnippetInput): readonly Snippet[] {
  const { labels, notes } = agentsStrings.connect
  return [
    { id: 'curl', label: labels.curl, note: notes.curl, code: curl(parts) },
    { id: 'curl-stream', label: labels.curlStream, note: notes.curlStream, code: curlStream(parts) },
    { id: 'curl-rest', label: labels.curlRest, note: notes.curlRest, code: curlRest(parts) },
    { id: 'curl-0.3', label: labels.curlOld, note: notes.curlOld, code: curlOld(parts) },
    { id: 'parley', label: labels.parley, note: 'npm install @parley/a2a', code: parleyClient(parts) },
    { id: 'a2a-js', label: labels.a2aJs, note: 'npm install @a2a-js/sdk', code: a2aJs(parts) },
    { id: 'python', label: labels.python, note: 'pip install a2a-sdk', code: python(parts) },
    { id: 'mcp-http', label: labels.mcpHttp, note: notes.mcpHttp(parts.agent), code: mcpHttp(parts) },
    { id: 'mcp-stdio', label: labels.mcpStdio, note: notes.mcpStdio, code: mcpStdio(parts) },
  ]
}

function curl(parts: SnippetInput): string {
  return curlOf(parts, parts.url, { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message: message(parts) } })
}

function curlStream(parts: SnippetInput): string {
  const body = { jsonrpc: '2.0', id: 1, method: 'SendStreamingMessage', params: { message: message(parts) } }
  return curlOf(parts, parts.url, body, { isStream: true })
}

function curlRest(parts: SnippetInput): string {
  return curlOf(parts, `${parts.url}/message:send`, { message: message(parts) })
}

function curlOld(parts: SnippetInput): string {
  const { text } = parts
  const sent = { kind: 'message', messageId: messageIdPlaceholder, role: 'user', parts: [{ kind: 'text', text }] }
  const body = { jsonrpc: '2.0', id: 1, method: 'message/send', params: { message: sent } }
  return curlOf(parts, parts.url, body, { version: '0.3' })
}

function message({ text }: SnippetInput): object {
  return { messageId: messageIdPlaceholder, role: 'ROLE_USER', parts: [{ text }] }
}

interface CurlOptions {
  readonly version?: string
  readonly isStream?: boolean
}

function curlOf(
  { withKey }: SnippetInput,
  url: string,
  body: object,
  { version = '1.0', isStream = false }: CurlOptions = {},
): string {
  return [
    `curl ${isStream ? '-N ' : ''}${shellQuote(url)}`,
    `-H 'Content-Type: application/json'`,
    `-H 'A2A-Version: ${version}'`,
    ...(withKey ? ['-H "Authorization: Bearer $PARLEY_KEY"'] : []),
    `-d ${fillMessageId(shellQuote(JSON.stringify(body)))}`,
  ].join(' \\\n  ')
}

function parleyClient({ url, text, withKey }: SnippetInput): string {
  const options = withKey ? ', { bearer: process.env.PARLEY_KEY }' : ''
  return `import { connect } from '@parley/a2a/client'

const agent = await connect(${literal(url)}${options})

for await (const chunk of agent.stream(${literal(text)}).text()) process.stdout.write(chunk)
`
}

function a2aJs({ card, text, withKey }: SnippetInput): string {
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

function python({ url, text, withKey }: SnippetInput): string {
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

/** A JSON string is also a valid literal in JavaScript and Python. */
function literal(text: string): string {
  return JSON.stringify(text)
}

function mcpHttp({ hub, withKey }: SnippetInput): string {
  const server = {
    type: 'http',
    url: `${hub}/mcp`,
    ...(withKey ? { headers: { Authorization: 'Bearer ${PARLEY_KEY}' } } : {}),
  }
  return JSON.stringify({ mcpServers: { parley: server } }, null, 2)
}

function mcpStdio({ hub, withKey }: SnippetInput): string {
  const server = {
    command: 'npx',
    args: ['-y', '@parley/hub', 'mcp', '--hub', hub],
    ...(withKey ? { env: { PARLEY_KEY: 'the key' } } : {}),
  }
  return JSON.stringify({ mcpServers: { parley: server } }, null, 2)
}
