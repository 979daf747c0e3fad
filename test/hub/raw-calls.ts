/** Hand-written calls of clients of two versions. */
import assert from 'node:assert/strict'

export interface CallAnswer {
  readonly status: number
  readonly headers: Headers
  readonly json: any
  /** All text of a response, wherever it is. */
  readonly text: string
}

export async function call1_0(url: string, text: string, headers: Record<string, string> = {}): Promise<CallAnswer> {
  return post(url, 'SendMessage', { parts: [{ text }], role: 'ROLE_USER' }, { 'A2A-Version': '1.0', ...headers })
}

export async function call0_3(url: string, text: string, headers: Record<string, string> = {}): Promise<CallAnswer> {
  return post(url, 'message/send', { kind: 'message', role: 'user', parts: [{ kind: 'text', text }] }, headers)
}

async function post(
  url: string,
  method: string,
  message: object,
  headers: Record<string, string>,
): Promise<CallAnswer> {
  const params = { message: { messageId: crypto.randomUUID(), ...message } }
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const json = (await response.json()) as any
  const task = json.result?.task ?? json.result
  const parts = [...(task?.artifacts ?? []).flatMap((one: any) => one.parts), ...(task?.status?.message?.parts ?? [])]
  return {
    status: response.status,
    headers: response.headers,
    json,
    text: parts.map((part) => part.text ?? '').join(''),
  }
}

export async function cardOf(url: string, headers: Record<string, string> = {}): Promise<any> {
  const response = await fetch(`${url}/.well-known/agent-card.json`, { headers })
  assert.equal(response.status, 200)
  return response.json()
}
