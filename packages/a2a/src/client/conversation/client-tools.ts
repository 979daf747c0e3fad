/**
 * Tools that run in the client when an agent calls them (S2-13, S2-14). Loaded with the first conversation that has tools, or
 * with the first question that uses the extension. An unknown tool or a failed tool is a result as well: the agent can read it
 * and do something else.
 */
import { isStruct } from '../../model/struct.ts'
import { clientToolsExtension as uri, credentialsExtension } from '../../model/extension.ts'
import { asksForSecret, authRequestIn } from '../../model/secrets.ts'
import type { DataPart, Json, Message, Part, Struct } from '../../model/task.ts'
import { textOfParts } from '../agent-response.ts'
import type { ConversationOptions, ClientTool, InputRequest, MessageInput } from '../contract.ts'

type Tools = NonNullable<ConversationOptions['tools']>

/** The message with the list of available tools. */
export function withToolList(messageInput: MessageInput, tools: Tools): MessageInput {
  const message = toMessage(messageInput)
  const ours = message.metadata?.[uri]
  const listed = Object.entries(tools).map(([name, tool]) => {
    if (typeof tool === 'function') return { name }
    const { description, inputSchema } = tool
    return {
      name,
      ...(description !== undefined ? { description } : {}),
      ...(inputSchema !== undefined ? { inputSchema } : {}),
    }
  })
  return { ...message, metadata: { ...message.metadata, [uri]: { ...(isStruct(ours) ? ours : {}), tools: listed } } }
}

/** `undefined`: neither a tool nor a handler can answer. */
export async function answerExtensionRequest(
  inputRequest: InputRequest,
  { tools, onInputRequired }: ConversationOptions,
  signal: AbortSignal,
): Promise<MessageInput | undefined> {
  const calls = (inputRequest.message?.parts ?? []).flatMap(toolCallsIn)
  const request = inputRequestIn(inputRequest.message)
  if (tools !== undefined && calls.length === 0) {
    // Peers without tool calls name the tool in the request itself.
    const name = [request?.['name'], request?.['tool']].find((given) => typeof given === 'string')
    if (name !== undefined && Object.hasOwn(tools, name)) calls.push(parseToolCall({ ...request, name }))
  }
  if (tools !== undefined && calls.length > 0) {
    const parts = await Promise.all(calls.map((call) => runTool(call, tools, signal)))
    return { parts, referenceTaskIds: [inputRequest.task.id] }
  }
  const { requestId, prompt } = request ?? {}
  const sensitive = asksForSecret(inputRequest.message)
  const auth = inputRequest.message?.parts.map(authRequestIn).find((given) => given !== undefined)
  const schemes = auth?.['securitySchemes']
  const answer = await onInputRequired?.({
    ...inputRequest,
    text: inputRequest.text === '' && typeof prompt === 'string' ? prompt : inputRequest.text,
    sensitive,
    ...(typeof requestId === 'string' ? { requestId } : {}),
    ...(isStruct(schemes) ? { schemes: schemes as unknown as NonNullable<InputRequest['schemes']> } : {}),
  })
  if (answer === undefined || answer === null) return undefined
  if (typeof requestId === 'string') return asToolResult(requestId, sensitive, toMessage(answer), inputRequest.task.id)
  return sensitive ? asCredentials(toMessage(answer), schemes) : answer
}

/** Sends the answer as credentials, which the peer does not log: a text as it is, everything else marked (B-156, B-161). */
function asCredentials(answer: ReturnType<typeof toMessage>, schemes: Json | undefined): MessageInput {
  const [scheme, ...others] = isStruct(schemes) ? Object.keys(schemes) : []
  const about = scheme !== undefined && others.length === 0 ? { scheme } : {}
  const metadata = { [credentialsExtension]: { type: 'credentials' } }
  const parts = answer.parts.map((part): Part =>
    'text' in part
      ? { data: { ...about, credentials: part.text }, metadata }
      : { ...part, metadata: { ...part.metadata, ...metadata } },
  )
  return { ...answer, parts }
}

/** Adds the result that peers with the extension expect. A secret is sent only there, where it is marked as one. */
function asToolResult(
  requestId: string,
  isSecret: boolean,
  answer: ReturnType<typeof toMessage>,
  taskId: string,
): MessageInput {
  const data = answer.parts.find((part) => 'data' in part)
  const result = data === undefined ? textOfParts(answer.parts) : data.data
  const parts = isSecret ? answer.parts.filter((part) => !('text' in part) && part !== data) : answer.parts
  const mark = isSecret ? { sensitive: true } : {}
  return {
    ...answer,
    referenceTaskIds: [...(answer.referenceTaskIds ?? []), taskId],
    parts: [...parts, resultPart({ toolUseId: requestId, result }, mark)],
  }
}

interface ClientToolCall {
  readonly toolUseId: string
  readonly name: string
  readonly input: Json
}

function toolCallsIn(part: Part): ClientToolCall[] {
  const about = part.metadata?.[uri]
  return isStruct(about) && about['type'] === 'tool-use' && 'data' in part && isStruct(part.data)
    ? [parseToolCall(part.data)]
    : []
}

/** Accepts the names that models and their frameworks use. */
function parseToolCall(data: Struct): ClientToolCall {
  const word = (...names: string[]): string =>
    names.map((name) => data[name]).find((value) => typeof value === 'string') ?? ''
  return {
    toolUseId: word('toolUseId', 'requestId', 'id'),
    name: word('name', 'toolName', 'tool'),
    input: data['input'] ?? data['arguments'] ?? data['args'] ?? {},
  }
}

async function runTool(
  { toolUseId, name, input }: ClientToolCall,
  tools: Tools,
  signal: AbortSignal,
): Promise<DataPart> {
  const failed = (reason: string, message: string): DataPart => resultPart({ toolUseId, error: { reason, message } })
  if (!Object.hasOwn(tools, name)) {
    const known = Object.keys(tools).join(', ')
    return failed('UNKNOWN_TOOL', `Unknown tool "${name}". Available: ${known}`)
  }
  const tool = tools[name] as ClientTool
  try {
    const act = typeof tool === 'function' ? tool : tool.run
    const value = await act(input, { name, toolUseId, signal })
    // A value that JSON cannot represent is a failure of the tool, not of the conversation.
    return resultPart({ toolUseId, result: JSON.parse(JSON.stringify(value) ?? 'null') as Json })
  } catch (reason) {
    signal.throwIfAborted()
    return failed('TOOL_EXECUTION_FAILED', reason instanceof Error ? reason.message : String(reason))
  }
}

function resultPart(data: Struct, more: Struct = {}): DataPart {
  return { data, metadata: { [uri]: { type: 'tool-result', ...more } } }
}

function inputRequestIn(message: Message | undefined): Struct | undefined {
  const about = message?.metadata?.[uri]
  const request = isStruct(about) ? about['inputRequest'] : undefined
  return isStruct(request) ? request : undefined
}

function toMessage(messageInput: MessageInput): Exclude<MessageInput, string | readonly Part[]> {
  if (typeof messageInput === 'string') return { parts: [{ text: messageInput }] }
  return 'parts' in messageInput ? messageInput : { parts: messageInput }
}
