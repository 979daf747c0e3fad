/** A file that exports an agent. It is looked at before it is loaded: to load a script that is none would be to run it. */
import { readFileSync, statSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { readExport } from '../module/exported.ts'
import { loadModule } from '../module/load.ts'
import { unlessAborted } from '../unless-aborted.ts'
import { addressIn } from './address.ts'
import type { Detector } from './detect.ts'
import { nameFrom } from './name.ts'
import { timeLimit } from './time-limit.ts'

const ending = /\.[cm]?[jt]s$/
const exporting =
  /^\s*export\s+(default\b|(const|let|var|async|function|class)\b[^\n]*\bagent\b|\{[^}]*\b(default|agent)\b)/m

export function moduleDetector(limitMs: number): Detector {
  return {
    kind: 'module',
    applies: (target) => target.length === 1 && addressIn(target) === undefined && ending.test(target[0]),
    async detect([path], { cwd, signal }) {
      const file = resolve(cwd, path)
      if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return { reasons: [`there is no file ${path}`] }
      if (!exporting.test(readFileSync(file, 'utf8'))) return { reasons: ['it exports no default and no `agent`'] }
      const limit = timeLimit(limitMs, signal)
      try {
        const { card } = readExport(await unlessAborted(loadModule(file, path), limit.signal), undefined, path)
        const name = nameFrom(card.name, basename(path).replace(ending, ''))
        return { kind: 'module', name, entry: { path: /^[./]/.test(path) ? path : `./${path}` } }
      } catch (reason) {
        return { reasons: [limit.reasonFor(reason)] }
      }
    },
  }
}
