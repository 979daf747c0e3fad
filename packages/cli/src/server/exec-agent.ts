/**
 * The agent of `server --exec`: a shell command for each message. Its text is stdin, stdout is the artifact, and an exit code other
 * than 0 fails the task with what the program wrote to stderr. Canceling the task ends the program with everything it started.
 */
import { fail } from '@parley/a2a'
import type { AgentFunction, Message, Report } from '@parley/a2a'
import type { ConcurrencyLimit } from './concurrency-limit.ts'
import { runProgram, type ProgramExit } from './run-program.ts'
import { createOutputSplitter } from './split-output.ts'

export interface ExecAgentOptions {
  readonly command: string
  readonly cwd: string
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Streams the output in pieces that end with this text. Default: one artifact at the end. */
  readonly delimiter?: string
  readonly timeoutMs: number
  readonly maxOutputBytes: number
  readonly limit: ConcurrencyLimit
}

const artifactId = 'stdout'

export function createExecAgent(options: ExecAgentOptions): AgentFunction {
  const { command, cwd, delimiter, timeoutMs, maxOutputBytes, limit } = options

  return async function* ({ message, task, signal }): AsyncGenerator<Report> {
    const release = await limit.acquire(signal)
    try {
      yield { state: 'TASK_STATE_WORKING' }
      const timeUp = AbortSignal.timeout(timeoutMs)
      const program = runProgram({
        command,
        cwd,
        environment: { ...options.environment, A2A_TASK_ID: task.id, A2A_CONTEXT_ID: task.contextId },
        input: inputText(message),
        signal: AbortSignal.any([signal, timeUp]),
      })
      const splitter = delimiter === undefined ? undefined : createOutputSplitter(delimiter)
      const decoder = new TextDecoder()
      let [bytes, text, append] = [0, '', false]
      for await (const chunk of program.stdout as AsyncIterable<Buffer>) {
        bytes += chunk.length
        if (bytes > maxOutputBytes) {
          program.stop()
          break
        }
        const decoded = decoder.decode(chunk, { stream: true })
        if (splitter === undefined) text += decoded
        for (const piece of splitter?.push(decoded) ?? []) {
          yield { artifact: { artifactId, parts: [{ text: piece }] }, append }
          append = true
        }
      }
      const exit = await program.ended
      signal.throwIfAborted()
      if (bytes > maxOutputBytes) return yield fail(`The output of the program is larger than ${maxOutputBytes} bytes`)
      if (timeUp.aborted) return yield fail(`The program took longer than ${timeoutMs / 1_000} s`)
      if (exit.code !== 0) return yield fail(program.errorText().trimEnd() || describeExit(exit))
      const last = (splitter === undefined ? text : splitter.rest()) + decoder.decode()
      // Pieces are sent when they are complete, so the last one cannot be marked: an empty one closes the artifact.
      yield { artifact: { artifactId, parts: [{ text: last }] }, append, lastChunk: true }
    } finally {
      release()
    }
  }
}

/** The text parts, each on lines of its own; data as JSON. */
function inputText({ parts }: Message): string {
  return parts
    .flatMap((part) => ('text' in part ? [part.text] : 'data' in part ? [JSON.stringify(part.data)] : []))
    .join('\n')
}

function describeExit({ code, signal }: ProgramExit): string {
  return code === null ? `The program was ended by ${signal ?? 'a signal'}` : `The program exited with ${code}`
}
