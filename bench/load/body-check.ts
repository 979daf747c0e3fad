/** Checks of whole responses, for answers that are not streams. */
import type { ResponseCheck } from './open-load.ts'

/** Checks for the text that only the right answer has. */
export function createBodyCheck(...words: readonly string[]): () => ResponseCheck {
  return () => {
    let body = ''
    return {
      piece: (text) => (body += text),
      end(status) {
        if (status !== 200 || !words.every((word) => body.includes(word))) throw new Error(`${status} ${body}`)
        body = ''
      },
    }
  }
}
