/**
 * The work of all contestants, in one place, so that none does less than another:
 * the same requests to the same paths, the same text in the answers.
 */

/** What each path answers with. Parley serves an agent at `/a2a/{name}`; the others follow it. */
export const agentNames = ['message', 'task', 'stream', 'announcer'] as const
export type AgentName = (typeof agentNames)[number]

export const pathOf = (agent: AgentName): string => `/a2a/${agent}`

/** About the length of a typed message and of a short answer. */
export const question =
  'Please look at the attached order, check that the address is complete, and tell me when it can be with the customer; ' +
  'if anything is missing, say what, and to whom I should write about it.'
export const answer =
  'The address is complete. The order leaves the warehouse tomorrow morning and should be with the customer on Thursday, ' +
  'between nine and noon. Nothing is missing, so there is no one to write to.'

/** The size of a model's chunk, a few words, after the number by which the reader checks the order. */
export const chunkText = (index: number): string => `${String(index).padStart(6, '0')} and so it went on `

/** The event that goes to all subscribers, identified by its number. */
export const announcementText = (index: number): string => `announcement ${index}.`

let sent = 0

/** A message id that no server has seen: a repeated one may be answered from memory. Its length never changes. */
export const newMessageId = (): string => `message-${String(++sent).padStart(10, '0')}`

export function sendMessageBody(
  text: string,
  options: { streaming?: boolean; returnImmediately?: boolean; webhook?: string } = {},
): string {
  return JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: options.streaming ? 'SendStreamingMessage' : 'SendMessage',
    params: {
      message: { messageId: newMessageId(), role: 'ROLE_USER', parts: [{ text }] },
      ...(options.returnImmediately && { configuration: { returnImmediately: true } }),
      ...(options.webhook !== undefined && { configuration: { taskPushNotificationConfig: { url: options.webhook } } }),
    },
  })
}

export const getTaskBody = (id: string): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id } })

export const listTasksBody = (pageToken = ''): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ListTasks', params: { pageSize: 50, pageToken } })

export const subscribeBody = (id: string): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SubscribeToTask', params: { id } })

/** The bytes of one request of HTTP/1.1. All of the work is ASCII, so characters are bytes. */
export function requestText(port: number, agent: AgentName, body: string): string {
  return postText(port, pathOf(agent), body)
}

export function postText(port: number, path: string, body: string): string {
  return (
    `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\n` +
    `Accept: application/json, text/event-stream\r\nA2A-Version: 1.0\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  )
}
