/** The client that the draft has for `/v1`. It reads each event from a `result`, and sends over JSON-RPC. */
export interface MessageSendParams {
  readonly message: object
  readonly configuration?: { readonly acceptedOutputModes?: string[]; readonly historyLength?: number }
}

export class A2AClientImpl {
  readonly #baseUrl: string
  readonly #token: string

  constructor(baseUrl: string, token: string) {
    this.#baseUrl = baseUrl
    this.#token = token
  }

  async *streamMessage(params: MessageSendParams): AsyncGenerator<any> {
    const response = await fetch(`${this.#baseUrl}/v1/message:stream`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Authorization: `Bearer ${this.#token}`,
        Accept: 'text/event-stream',
      },
      body: JSON.stringify(params),
    })
    if (!response.ok) {
      const error: any = await response.json()
      throw new Error(`HTTP ${response.status}: ${error.error?.message || 'Unknown error'}`)
    }

    const reader = response.body!.getReader()
    const decoder = new TextDecoder()
    let buffer = ''
    while (true) {
      const { done, value } = await reader.read()
      if (done) break
      buffer += decoder.decode(value, { stream: true })
      const lines = buffer.split('\n')
      buffer = lines.pop() || '' // An incomplete line waits for the rest.
      for (const line of lines) {
        if (!line.startsWith('data: ')) continue
        const rpcResponse = JSON.parse(line.slice(6))
        if (rpcResponse.error) throw new Error(rpcResponse.error.message)
        yield rpcResponse.result
        if (rpcResponse.result.kind === 'status-update' && rpcResponse.result.final === true) return
      }
    }
  }

  async sendMessage(params: MessageSendParams): Promise<any> {
    const response = await fetch(`${this.#baseUrl}/api/a2a`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${this.#token}` },
      body: JSON.stringify({ jsonrpc: '2.0', id: Date.now(), method: 'message/send', params }),
    })
    const rpcResponse: any = await response.json()
    if (!response.ok) throw new Error(`HTTP ${response.status}: ${rpcResponse.error?.message || 'Unknown error'}`)
    if (rpcResponse.error) throw new Error(rpcResponse.error.message)
    return rpcResponse.result
  }
}
