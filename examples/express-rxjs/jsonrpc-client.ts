/** The client that the draft has for `/api/a2a`. `tasks/get` uses the same stream, to read on after a disconnection. */
export async function* streamMessage(baseUrl: string, message: object): AsyncGenerator<any> {
  yield* stream(baseUrl, 'message/stream', { message })
}

export async function* resubscribe(baseUrl: string, taskId: string): AsyncGenerator<any> {
  yield* stream(baseUrl, 'tasks/get', { taskId })
}

async function* stream(baseUrl: string, method: string, params: object): AsyncGenerator<any> {
  const response = await fetch(`${baseUrl}/api/a2a`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  if (!response.ok) {
    const error: any = await response.json()
    throw new Error(error.error?.message || 'Request failed')
  }

  const reader = response.body!.getReader()
  const decoder = new TextDecoder()
  let buffer = ''
  while (true) {
    const { done, value } = await reader.read()
    if (done) break
    buffer += decoder.decode(value, { stream: true })
    const lines = buffer.split('\n')
    buffer = lines.pop() || ''
    for (const line of lines) {
      if (!line.startsWith('data: ')) continue
      const data = JSON.parse(line.slice(6))
      if (data.error) throw new Error(data.error.message)
      yield data.result
    }
  }
}
