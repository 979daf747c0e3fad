/**
 * Code that calls an agent, ready to paste. Each snippet is complete and runs as is. A key is read from the variable PARLEY_KEY,
 * so that it is never written into a page, a file or a shell's history.
 */
import { fillMessageId, messageIdPlaceholder, shellQuote } from '../../../components/shell/curl.ts'
import {
  a2aJs,
  installCommands,
  mcpHttp,
  mcpStdio,
  parleyClient,
  python,
  type SnippetInput,
} from './client-programs.ts'

export interface Snippet {
  readonly id: string
  readonly label: string
  /** Prerequisites and hints. */
  readonly note: string
  readonly code: string
}

export function agentSnippets(parts: SnippetInput): readonly Snippet[] {
  return [
    {
      id: 'curl',
      label: 'curl',
      note: 'A2A 1.0 over JSON-RPC. Each run sends a new message. A retry would repeat the messageId and the content.',
      code: curl(parts),
    },
    {
      id: 'curl-stream',
      label: 'curl, streaming',
      note: 'A2A 1.0. Events arrive as they happen.',
      code: curlStream(parts),
    },
    { id: 'curl-rest', label: 'curl, REST', note: 'A2A 1.0 over HTTP+JSON.', code: curlRest(parts) },
    { id: 'curl-0.3', label: 'curl, 0.3', note: 'For clients of A2A 0.3.', code: curlOld(parts) },
    { id: 'parley', label: 'Parley client', note: installCommands.parley, code: parleyClient(parts) },
    { id: 'a2a-js', label: '@a2a-js/sdk', note: installCommands.a2aJs, code: a2aJs(parts) },
    { id: 'python', label: 'Python', note: installCommands.python, code: python(parts) },
    {
      id: 'mcp-http',
      label: 'MCP, HTTP',
      note: `The agents of this hub as tools, among them “${parts.agent}”. For clients with streamable HTTP.`,
      code: mcpHttp(parts),
    },
    {
      id: 'mcp-stdio',
      label: 'MCP, program',
      note: 'The same for clients that start a program and use stdio.',
      code: mcpStdio(parts),
    },
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
