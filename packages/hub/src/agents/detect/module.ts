/** Detects a file that exports an agent. It inspects the text before loading, because loading another script would run it. */
import { abortable } from '@parley/a2a/internal'
import { readFileSync, statSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { operatorMessage } from '../../json/operator-message.ts'
import { loadModule } from '../module/load-module.ts'
import { readModuleExport } from '../module/module-export.ts'
import { targetUrl, type Detector, createTimeLimit, agentNameFrom } from './detect.ts'
import { fileNotFound, moduleFailed } from './diagnosis.ts'

const scriptExtension = /\.[cm]?[jt]s$/
const exportPattern =
  /^\s*export\s+(default\b|(const|let|var|async|function|class)\b[^\n]*\bagent\b|\{[^}]*\b(default|agent)\b)/m

export function moduleDetector(limitMs: number): Detector {
  return {
    kind: 'module',
    applies: (target) => target.length === 1 && targetUrl(target) === undefined && scriptExtension.test(target[0]),
    async detect([path], { cwd, signal }) {
      const file = resolve(cwd, path)
      if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true)
        return { reasons: [`the file ${path} does not exist`], diagnosis: fileNotFound(path, cwd), isCertain: true }
      if (!exportPattern.test(readFileSync(file, 'utf8')))
        return { reasons: ['it has no default export and no export `agent`'] }
      const limit = createTimeLimit(limitMs, signal)
      try {
        const { card } = readModuleExport(await abortable(limit.signal, loadModule(file, path)), undefined, path)
        const name = agentNameFrom(card.name, basename(path).replace(scriptExtension, ''))
        return { kind: 'module', name, entry: { path: /^[./]/.test(path) ? path : `./${path}` } }
      } catch (reason) {
        // It exports an agent, so running it as a program would only hide the error. The loader's own message names the file and the line.
        const why = limit.diagnosis === undefined ? operatorMessage(reason) : limit.reasonFor(reason)
        const diagnosis = moduleFailed(path, why)
        return { reasons: [diagnosis.cause], diagnosis, isCertain: true }
      }
    },
  }
}
