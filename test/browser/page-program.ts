/** What the page does on request of the test. Runs in the browser; results are passed to the test as JSON. */
import { A2AError, connect } from '@parley/a2a/client'
import type { ConnectOptions } from '@parley/a2a/client'

/** A function of the test: receives each chunk as it arrives. */
declare const onChunk: (chunk: string) => Promise<void>

/** Long enough for a server to restart, and short enough for a test. */
const limits = { attempts: 60, firstDelayMs: 20, maxDelayMs: 200 }

const describeError = (reason: unknown): object =>
  reason instanceof A2AError
    ? { isTyped: true, code: reason.code, message: reason.message, details: reason.details }
    : { isTyped: false, name: (reason as Error).name }

const pageActions = {
  async card(url: string) {
    const { card, interface: chosen } = await connect(url)
    return { name: card.name, binding: chosen.protocolBinding, version: chosen.version, why: chosen.why }
  },

  async ask(url: string, text: string, options: ConnectOptions = {}) {
    try {
      return await (await connect(url, options)).ask(text)
    } catch (reason) {
      return describeError(reason)
    }
  },

  async stream(url: string, text: string) {
    const agent = await connect(url, { limits })
    const stream = agent.stream(text)
    const chunks: string[] = []
    for await (const chunk of stream.text()) {
      chunks.push(chunk)
      await onChunk(chunk)
    }
    const answer = await stream.result()
    return { chunks, state: answer.kind === 'task' ? answer.status.state : answer.kind }
  },

  async abort(url: string) {
    const agent = await connect(url)
    const controller = new AbortController()
    const stream = agent.stream('1000', { signal: controller.signal })
    let chunks = 0
    try {
      for await (const _ of stream.text()) if (++chunks === 3) controller.abort()
      return 'it went on to the end'
    } catch (reason) {
      // Ending a subscription cancels nothing.
      const { status } = await agent.get(stream.taskId ?? '')
      const { status: after } = await agent.cancel(stream.taskId ?? '')
      return { ...describeError(reason), chunks, state: status.state, after: after.state }
    }
  },

  async lost(url: string) {
    return (await connect(url)).get('unknown').catch(describeError)
  },
}

export type PageActions = typeof pageActions
Object.assign(globalThis, { stories: pageActions })
