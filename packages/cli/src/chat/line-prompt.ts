/**
 * The input of `chat`: a line editor with a history, hidden input for secrets, and Ctrl-C as an event. Lines that are typed while the
 * agent works wait for the next prompt.
 */
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import type { Terminal } from '../terminal.ts'

export interface LinePrompt {
  /** The next line; `undefined` at the end of the input. Rejects with the reason of the signal. */
  ask(
    prompt: string,
    options?: { readonly isHidden?: boolean; readonly signal?: AbortSignal },
  ): Promise<string | undefined>
  /** Calls `listener` at Ctrl-C. Returns the function that removes it. */
  onInterrupt(listener: () => void): () => void
  close(): void
}

export function openLinePrompt(terminal: Terminal, commands: readonly string[]): LinePrompt {
  const screen = new MutableScreen(terminal.output)
  const editor = createInterface({
    input: terminal.input,
    output: screen,
    terminal: true,
    historySize: 1_000,
    completer: (line: string) => [line.startsWith('/') ? commands.filter((name) => name.startsWith(line)) : [], line],
  })
  const lines: string[] = []
  const listeners = new Set<() => void>()
  let waiting: ((line: string | undefined) => void) | undefined
  let isClosed = false
  const deliver = (line: string | undefined): void => {
    const take = waiting
    waiting = undefined
    take?.(line)
  }
  editor.on('line', (line) => {
    if (waiting === undefined) lines.push(line)
    else deliver(line)
  })
  editor.on('close', () => {
    isClosed = true
    deliver(undefined)
  })
  editor.on('history', (history) => {
    if (screen.isHidden) history.shift()
  })
  const interrupt = (): void => {
    for (const listener of listeners) listener()
  }
  // In raw mode Ctrl-C is a key; from elsewhere it is a signal.
  editor.on('SIGINT', interrupt)
  const stopListening = terminal.onInterrupt(interrupt)

  return {
    async ask(prompt, { isHidden = false, signal } = {}) {
      signal?.throwIfAborted()
      const next = lines.shift()
      if (next !== undefined || isClosed) return next
      screen.write(isHidden ? prompt : '')
      screen.isHidden = isHidden
      editor.setPrompt(isHidden ? '' : prompt)
      editor.prompt()
      const { promise, resolve, reject } = Promise.withResolvers<string | undefined>()
      const onAbort = (): void => {
        waiting = undefined
        reject(signal?.reason as Error)
      }
      waiting = resolve
      signal?.addEventListener('abort', onAbort, { once: true })
      try {
        return await promise
      } finally {
        signal?.removeEventListener('abort', onAbort)
        screen.isHidden = false
        if (isHidden) screen.write('\n')
      }
    },
    onInterrupt(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    close() {
      stopListening()
      editor.close()
    },
  }
}

/** The terminal, except that what the editor writes while it is hidden is dropped. */
class MutableScreen extends Writable {
  isHidden = false
  readonly #terminal: Writable & { readonly columns?: number; readonly rows?: number }

  constructor(terminal: Writable) {
    super()
    this.#terminal = terminal
    terminal.on('resize', () => this.emit('resize'))
  }

  get columns(): number {
    return this.#terminal.columns ?? 80
  }

  get rows(): number {
    return this.#terminal.rows ?? 24
  }

  override _write(chunk: Buffer, _encoding: string, done: (reason?: Error | null) => void): void {
    if (this.isHidden) done()
    else this.#terminal.write(chunk, done)
  }
}
