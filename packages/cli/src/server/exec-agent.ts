/**
 * The agent of `server --exec`: a shell command for each message. Its text is stdin, stdout is the artifact, and an exit code other
 * than 0 fails the task with what the program wrote to stderr. Canceling the task ends the program with everything it started.
 */
import type { Readable } from 'node:stream'
import { fail, type AgentFunction, type Message, type Report, type Turn } from '@parley/a2a'
import { linkSignals } from '@parley/a2a/internal'
import type { ConcurrencyLimit } from './concurrency-limit.ts'
import { runProgram, type ProgramExit, type RunningProgram } from './run-program.ts'
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

export interface ExecAgent {
  readonly run: AgentFunction
  /** Ends the programs that still run, by force: nothing outlives the server. */
  close(): void
}

export function createExecAgent(options: ExecAgentOptions): ExecAgent {
  const { command, cwd, delimiter, timeoutMs, maxOutputBytes, limit } = options
  const running = new Set<RunningProgram>()

  async function* run({ message, task, signal }: Turn): AsyncGenerator<Report, void> {
    const release = await limit.acquire(signal)
    const stop = linkSignals([signal], timeoutMs)
    try {
      yield { state: 'TASK_STATE_WORKING' }
      const program = runProgram({
        command,
        cwd,
        environment: { ...options.environment, A2A_TASK_ID: task.id, A2A_CONTEXT_ID: task.contextId },
        input: inputText(message),
        signal: stop.signal,
      })
      running.add(program)
      void program.ended.catch(() => {}).finally(() => running.delete(program))
      const splitter = delimiter === undefined ? undefined : createOutputSplitter(delimiter)
      const decoder = new TextDecoder()
      let [bytes, text, append] = [0, '', false]
      for await (const chunk of chunksOf(program.stdout)) {
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
      const failure =
        bytes > maxOutputBytes
          ? `The output of the program is larger than ${maxOutputBytes} bytes`
          : stop.signal.aborted
            ? `The program took longer than ${timeoutMs / 1_000} s`
            : exit.code !== 0
              ? program.errorText().trimEnd() || describeExit(exit)
              : undefined
      if (failure !== undefined) {
        yield fail(failure)
        return
      }
      const last = (splitter === undefined ? text : splitter.rest()) + decoder.decode()
      // Pieces are sent when they are complete, so the last one cannot be marked: an empty one closes the artifact.
      yield { artifact: { artifactId, parts: [{ text: last }] }, append, lastChunk: true }
    } finally {
      stop.end()
      release()
    }
  }

  return {
    run,
    close() {
      for (const program of running) program.kill()
    },
  }
}

/** Ends also if the stream is cut because the program does not end. */
async function* chunksOf(stdout: Readable): AsyncGenerator<Buffer, void> {
  try {
    yield* stdout as AsyncIterable<Buffer>
  } catch (reason) {
    if ((reason as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw reason
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
