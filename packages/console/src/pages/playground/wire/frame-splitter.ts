/** The frames of a stream as they came, comments too: whatever stands between blank lines, wherever the pieces are cut. */

export function createFrameSplitter(): { take(piece: string): readonly string[]; rest(): string } {
  let held = ''
  return {
    take(piece) {
      // A line may end in the middle of its two characters.
      const text = (held + piece).replaceAll(/\r\n/g, '\n')
      const frames = text.split(/\n\n+/)
      held = frames.pop() ?? ''
      return frames.filter((frame) => frame !== '').map((frame) => frame.replace(/^\n/, ''))
    },
    rest: () => held.trim(),
  }
}
