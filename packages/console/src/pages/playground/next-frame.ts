/** Work that is done at most once for each frame of the screen, however often it is asked for; also where nobody looks. */

/** A tab in the background draws no frames. */
const unseenMs = 200

export function nextFrame(work: () => void): () => void {
  let isDue = false
  return () => {
    if (isDue) return
    isDue = true
    const run = (): void => {
      if (!isDue) return
      isDue = false
      work()
    }
    if (typeof requestAnimationFrame === 'function' && !document.hidden) requestAnimationFrame(run)
    setTimeout(run, unseenMs)
  }
}
