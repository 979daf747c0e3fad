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
  let isSecret = false
  editor.on('history', (history) => {
    if (isSecret) history.shift()
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
      if (next !== undefined) {
        // Typed ahead, without an echo.
        screen.show(isHidden ? `${prompt}\n` : `${prompt}${next}\n`)
        return next
      }
      if (isClosed) return undefined
      if (isHidden) screen.show(prompt)
      isSecret = isHidden
      screen.isMuted = isHidden
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
        screen.isMuted = true
        isSecret = false
        if (isHidden) screen.show('\n')
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

/** The terminal, except that nothing is echoed while the agent writes or a secret is typed. */
class MutableScreen extends Writable {
  isMuted = true
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

  show(text: string): void {
    this.#terminal.write(text)
  }

  /** Decides at once: a queued write would be shown when the screen is no longer muted. */
  override write(chunk: string | Uint8Array): boolean {
    return this.isMuted || this.#terminal.write(chunk)
  }
}
