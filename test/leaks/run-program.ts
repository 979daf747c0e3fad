/** Runs a measuring program of this folder, and returns its results. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import type { LeakMeasurement } from './measure.ts'

/** Each of its lines is a case. A program that does not exit on its own has measured nothing. */
export async function runProgram(
  name: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<LeakMeasurement[]> {
  const file = join(import.meta.dirname, `${name}.ts`)
  const child = spawn(process.execPath, ['--conditions=parley-source', '--expose-gc', file], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...environment },
  })
  let text = ''
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()))
  const code = await new Promise((resolve) => child.once('close', resolve))
  assert.equal(code, 0, `${name} ended with ${String(code)}`)
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as LeakMeasurement)
}

export function report(measured: readonly LeakMeasurement[]): string {
  return measured
    .map(
      ({ name, bytesEach, operations }) => `${String(bytesEach).padStart(7)} bytes each  ${name} (${operations} times)`,
    )
    .join('\n')
}
