/** Detects any other program: it gets the text of a message on stdin, and its output is the answer. */
import { linkSignals } from '@parley/a2a/internal'
import { becomesBlockedOnInput } from '../programs/blocked-on-input.ts'
import { splitLines } from '../programs/lines.ts'
import { startProgram, type Program, type ProgramOptions } from '../programs/program.ts'
import { parseJsonOrUndefined } from '../../json/embedded-json.ts'
import { createTimeLimit, type Detector, type DetectTimes } from './detect.ts'
import { isCommand, isPackageRunner, resolveProgram } from './program.ts'

export function commandDetector(times: Pick<DetectTimes, 'programMs'>): Detector {
  return {
    kind: 'command',
    applies: isCommand,
    async detect(target, deps) {
      const { command, env, entry, name } = await resolveProgram(target, deps)
      const note = 'It implements no known protocol, so it receives the text of each message on stdin.'
      const found = { kind: 'command', name, entry, notes: [note] }
      // What a package runner waits for cannot be told from outside.
      if (isPackageRunner(target)) return found
      const limit = createTimeLimit(times.programMs, deps.signal)
      const options = { command, cwd: deps.cwd, env, graceMs: stopGraceMs, onError() {} }
      return (await ignoresRequests(options, limit.signal)) ? { ...found, isCertain: true } : found
    },
  }
}

const stopGraceMs = 1_000
const maxLineBytes = 1_000_000

/** The first requests of MCP, of the Agent Client Protocol and of the newest MCP. A program that implements one answers. */
const openingRequests = [
  {
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'parley', version: '1' } },
  },
  { id: 2, method: 'initialize', params: { protocolVersion: 1, clientCapabilities: {} } },
  { id: 3, method: 'server/discover', params: {} },
].map((request) => JSON.stringify({ jsonrpc: '2.0', ...request }))

/**
 * Whether the program has read the requests and waits for more input without an answer, so that it answers none. `false` if that is
 * not certain: it answered, it exited, or it is still starting when `signal` aborts.
 */
async function ignoresRequests(options: ProgramOptions, signal: AbortSignal): Promise<boolean> {
  const program = startProgram(options)
  if (program.pid === undefined) return false
  const watching = linkSignals([signal])
  try {
    program.write(openingRequests.map((line) => `${line}\n`).join(''))
    return await Promise.race([
      becomesBlockedOnInput(program.pid, watching.signal),
      answersOrExits(program).then(() => false),
    ])
  } finally {
    watching.abort(new Error('it is known'))
    await program.stop()
  }
}

/** Resolves when it writes a message of JSON-RPC or ends. A request that it repeats, as `cat` does, is no message of its own. */
async function answersOrExits({ output }: Program): Promise<void> {
  for await (const { text } of splitLines(output, maxLineBytes)) {
    const value = parseJsonOrUndefined(text)
    const isMessage = typeof value === 'object' && value !== null && 'jsonrpc' in value
    if (isMessage && !openingRequests.includes(text.trim())) return
  }
}
