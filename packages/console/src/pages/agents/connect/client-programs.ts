/** Programs that call an agent, and the commands that install what they need. Each is complete and runs as is. */

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

export const installCommands = {
  parley: 'npm install @parley/a2a',
  a2aJs: 'npm install @a2a-js/sdk',
  python: 'pip install a2a-sdk',
} as const

export function parleyClient({ url, text, withKey }: SnippetInput): string {
  const options = withKey ? ', { bearer: process.env.PARLEY_KEY }' : ''
  return `import { connect } from '@parley/a2a/client'

const agent = await connect(${literal(url)}${options})

for await (const chunk of agent.stream(${literal(text)}).text()) process.stdout.write(chunk)
`
}

export function a2aJs({ card, text, withKey }: SnippetInput): string {
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

export function python({ url, text, withKey }: SnippetInput): string {
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

export function mcpHttp({ hub, withKey }: SnippetInput): string {
  const server = {
    type: 'http',
    url: `${hub}/mcp`,
    ...(withKey ? { headers: { Authorization: 'Bearer ${PARLEY_KEY}' } } : {}),
  }
  return JSON.stringify({ mcpServers: { parley: server } }, null, 2)
}

export function mcpStdio({ hub, withKey }: SnippetInput): string {
  const server = {
    command: 'npx',
    args: ['-y', '@parley/hub', 'mcp', '--hub', hub],
    ...(withKey ? { env: { PARLEY_KEY: 'the key' } } : {}),
  }
  return JSON.stringify({ mcpServers: { parley: server } }, null, 2)
}
