/** When a command must stop: at the end of `--timeout` and at Ctrl-C. */
import type { Settings } from './args/settings.ts'
import { CliError } from './output/cli-error.ts'
import type { Terminal } from './terminal.ts'

/** The reason of the signal after Ctrl-C. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
}

/** Longer timers would fire at once. */
const maxTimerMs = 2 ** 31 - 1

/** What a library throws after an abort. */
export function isAbort(reason: unknown): boolean {
  return reason instanceof Error && (reason.name === 'AbortError' || ('code' in reason && reason.code === 'ABORT_ERR'))
}

export interface StopSignal {
  readonly signal: AbortSignal
  /** The terminal for the command. Once the command listens to Ctrl-C itself, Ctrl-C does not abort the signal. */
  readonly terminal: Terminal
  dispose(): void
}

/** Aborts at the end of an explicit `--timeout` (its default limits single calls only) and at Ctrl-C. */
export function createStopSignal(settings: Settings, terminal: Terminal): StopSignal {
  const controller = new AbortController()
  const timeoutMs = settings.durationMs('timeout')
  const isExplicit = settings.sourceOf('timeout').kind !== 'default'
  const timer =
    isExplicit && timeoutMs !== undefined && timeoutMs > 0
      ? setTimeout(
          () => {
            const text = settings.value('timeout') ?? ''
            controller.abort(new CliError('A2ACLI_ERR_TIMEOUT', `The command did not end within --timeout ${text}.`))
          },
          Math.min(timeoutMs, maxTimerMs),
        )
      : undefined
  let ownListeners = 0
  const stopListening = terminal.onInterrupt(() => {
    if (ownListeners === 0) controller.abort(new Interrupted('interrupted'))
  })
  const onInterrupt = (listener: (count: number) => void): (() => void) => {
    ownListeners += 1
    const remove = terminal.onInterrupt(listener)
    return () => {
      ownListeners -= 1
      remove()
    }
  }
  return {
    signal: controller.signal,
    // Inherits, since properties of a terminal may be getters.
    terminal: Object.create(terminal, { onInterrupt: { value: onInterrupt } }) as Terminal,
    dispose() {
      clearTimeout(timer)
      stopListening()
    },
  }
}
