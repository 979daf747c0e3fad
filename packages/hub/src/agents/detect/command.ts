/** Detects any other program: it gets the text of a message on stdin, and its output is the answer. */
import type { Detector } from './detect.ts'
import { isCommand, resolveProgram } from './program.ts'

export const commandDetector: Detector = {
  kind: 'command',
  applies: isCommand,
  async detect(target, deps) {
    const { entry, name } = await resolveProgram(target, deps)
    const note = 'It implements no known protocol, so it receives the text of each message on stdin.'
    return { kind: 'command', name, entry, notes: [note] }
  },
}
