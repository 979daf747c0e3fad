/** Loads a part of the console when it is first needed, with retries while the hub is unreachable. */
const firstWaitMs = 500
const longestWaitMs = 10_000

export async function loadWithRetry<Part>(load: () => Promise<Part>): Promise<Part> {
  for (let waitMs = firstWaitMs; ; waitMs = Math.min(longestWaitMs, waitMs * 2)) {
    try {
      return await load()
    } catch {
      await new Promise((resolve) => setTimeout(resolve, waitMs))
    }
  }
}
