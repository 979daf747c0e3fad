/**
 * `npm run test:watch`: `test:fast` of the files that were saved since the last run that passed, after every save. A save during
 * a run starts it again.
 */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { existsSync, globSync, watch } from 'node:fs'
import { join } from 'node:path'

/** An editor or git writes several files at once. */
const settleMs = 150

const root = join(import.meta.dirname, '..')
const folders = [...globSync('packages/*/src', { cwd: root }), 'scripts'].filter((folder) =>
  existsSync(join(root, folder)),
)
const saved = new Set<string>()
let running: ChildProcess | undefined
let timer: NodeJS.Timeout | undefined

for (const folder of folders) {
  watch(join(root, folder), { recursive: true }, (_, name) => {
    if (name === null || !/\.tsx?$/.test(name)) return
    saved.add(join(folder, name))
    clearTimeout(timer)
    timer = setTimeout(runSaved, settleMs)
  })
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => {
    stopRunning()
    process.exit()
  })
}
console.log(`Watching ${folders.join(', ')}. Stop with Ctrl+C.`)

function runSaved(): void {
  timer = undefined
  stopRunning()
  const files = [...saved].filter((file) => existsSync(join(root, file)))
  if (files.length === 0) return
  console.log(`\n${new Date().toLocaleTimeString()}  ${files.join(', ')}`)
  const child = spawn(process.execPath, ['scripts/test-fast.ts', ...files], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    // A group of its own, for a restart to end it. On Linux, the guard of the run ends what it started.
    detached: true,
  })
  running = child
  child.once('close', (code) => {
    if (running !== child) return
    running = undefined
    // A pending timer means that a file was saved meanwhile.
    if (code === 0 && timer === undefined) saved.clear()
  })
}

function stopRunning(): void {
  const pid = running?.pid
  running = undefined
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGTERM')
  } catch {
    // It has ended.
  }
}
