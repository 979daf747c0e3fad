/** Finds out what kind of agent is behind an address or a command: one line for each kind that can be told. */
import { openclawDetector } from '../openclaw/detect.ts'
import { a2aDetector } from './a2a.ts'
import { acpDetector } from './acp.ts'
import { commandDetector } from './command.ts'
import { detectWith } from './detect.ts'
import type { Detect } from './detect.ts'
import { mcpDetector } from './mcp.ts'
import { moduleDetector } from './module.ts'
import { openaiDetector } from './openai.ts'
import type { DetectTimes } from './times.ts'

const usual: DetectTimes = { httpMs: 8_000, programMs: 10_000, fetchedMs: 45_000 }

export function detectWithin(times: DetectTimes): Detect {
  return detectWith([
    a2aDetector(times.httpMs),
    openclawDetector,
    mcpDetector(times),
    openaiDetector(times.httpMs),
    moduleDetector(times.programMs),
    acpDetector(times),
    commandDetector,
  ])
}

export const detect = detectWithin(usual)
