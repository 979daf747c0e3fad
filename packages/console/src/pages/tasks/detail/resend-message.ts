/** Sends a message as a new task, over A2A 1.0, with the current session. */
import type { Message, Task } from '@parley/a2a'
import type { TaskDetail } from '../../../api/admin.ts'
import { Problem } from '../../../api/problem.ts'
import { csrfToken, markSignedOut } from '../../../api/session-state.ts'

export function firstMessage({ task }: Pick<TaskDetail, 'task'>): Message | undefined {
  const { history = [] } = task as unknown as Task
  return history.find(({ role }) => role === 'ROLE_USER')
}

/** Returns the id of the new task as soon as it is known. */
export async function resendMessage(agent: string, message: Message): Promise<string> {
  const path = `/a2a/${encodeURIComponent(agent)}`
  const request = `POST ${path}`
  const { parts, metadata, extensions } = message
  const said = {
    messageId: crypto.randomUUID(),
    role: 'ROLE_USER',
    parts,
    ...(metadata !== undefined ? { metadata } : {}),
    ...(extensions !== undefined ? { extensions } : {}),
  }
  const params = { message: said, configuration: { returnImmediately: true } }
  let response: Response
  try {
    response = await fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0', 'x-csrf-token': csrfToken() },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params }),
    })
  } catch (cause) {
    throw new Problem('The hub cannot be reached. It may be restarting.', { code: 'UNREACHABLE', request, cause })
  }
  if (response.status === 401) markSignedOut()
  const responseBody = (await response.json().catch(() => ({}))) as SendMessageResponse
  const id = responseBody.result?.task?.id
  if (id !== undefined) return id
  const why = responseBody.error?.message ?? `${agent} answered with status ${response.status}, and made no task of it.`
  throw new Problem(why, { code: 'INTERNAL', status: response.status, request })
}

interface SendMessageResponse {
  readonly result?: { readonly task?: { readonly id?: string } }
  readonly error?: { readonly message?: string }
}
