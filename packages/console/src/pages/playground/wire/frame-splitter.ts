/** Splits a stream into frames at blank lines, including comments, wherever the chunks are split. */

export function createFrameSplitter(): { take(piece: string): readonly string[]; rest(): string } {
  let held = ''
  return {
    take(piece) {
      // A chunk may end between CR and LF.
      const text = (held + piece).replaceAll(/\r\n/g, '\n')
      const frames = text.split(/\n\n+/)
      held = frames.pop() ?? ''
      return frames.filter((frame) => frame !== '').map((frame) => frame.replace(/^\n/, ''))
    },
    rest: () => held.trim(),
  }
}
