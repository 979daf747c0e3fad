/** Finds out what kind of agent is behind an address or a command: one line for each kind that can be told. */
import { openclawDetector } from '../openclaw/detect.ts'
import { detectWith } from './detect.ts'
import type { Detector } from './detect.ts'

const detectors: readonly Detector[] = [openclawDetector]

export const detect = detectWith(detectors)
