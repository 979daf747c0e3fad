/** Runs work at most once per animation frame, however often it is requested; also in a background tab. */

/** A background tab gets no animation frames. */
const backgroundDelayMs = 200

export function oncePerFrame(work: () => void): () => void {
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
    setTimeout(run, backgroundDelayMs)
  }
}
