/** The folder of a test run. When the run ends, however it ends, its processes end and the folder is removed (process-guard.ts). */
import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Whether a guard ends the processes of a run. Elsewhere a terminal signals those of its group, and others may be left. */
export const isGuarded = process.platform === 'linux'

export function createScratchFolder(): string {
  const scratch = mkdtempSync(join(tmpdir(), 'parley-test-'))
  mkdirSync(temporaryFolder(scratch))
  // Servers of the tests run as other users.
  chmodSync(scratch, 0o755)
  chmodSync(temporaryFolder(scratch), 0o1777)
  if (isGuarded) startGuard(scratch)
  else process.once('exit', () => rmSync(scratch, { recursive: true, force: true }))
  return scratch
}

/** TMPDIR of all processes of the run, by which the guard knows them. */
export function temporaryFolder(scratch: string): string {
  return join(scratch, 'tmp')
}

function startGuard(scratch: string): void {
  const guard = spawn(process.execPath, [join(import.meta.dirname, 'process-guard.ts'), scratch], {
    stdio: ['pipe', 'ignore', 'inherit'],
    detached: true,
  })
  guard.unref()
  ;(guard.stdin as unknown as { unref(): void }).unref()
}
