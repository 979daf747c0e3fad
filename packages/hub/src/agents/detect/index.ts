/** Detects the agent kind behind an address or a command: one line per kind. */
import { openClawDetector } from './openclaw.ts'
import { a2aDetector } from './a2a.ts'
import { acpDetector } from './acp.ts'
import { commandDetector } from './command.ts'
import { combineDetectors, type Detect, type DetectTimes } from './detect.ts'
import { diagnoseUrl } from './diagnose-url.ts'
import { mcpDetector } from './mcp.ts'
import { moduleDetector } from './module.ts'
import { openaiDetector } from './openai.ts'

const defaultTimes: DetectTimes = { httpMs: 8_000, programMs: 10_000, fetchedMs: 45_000 }

export function createDetect(times: DetectTimes): Detect {
  return combineDetectors(
    [
      a2aDetector(times.httpMs),
      openClawDetector,
      mcpDetector(times),
      openaiDetector(times.httpMs),
      moduleDetector(times.programMs),
      acpDetector(times),
      commandDetector(times),
    ],
    diagnoseUrl(times.httpMs),
  )
}

export const detect = createDetect(defaultTimes)
