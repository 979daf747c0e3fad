/** Reads server-sent events out of a body and checks the ones that carry a numbered chunk. */

const dataMark = 'data:'

function dataOf(block: string): string | undefined {
  const lines = block.split('\n')
  const line = lines.find((each) => each.startsWith(dataMark))
  return line?.slice(dataMark.length)
}

/** Calls `onEvent` with the data of each event; comments and events without data are skipped. */
export function eventReader(onEvent: (data: string) => void): (piece: string) => void {
  let pending = ''
  return (piece) => {
    // Python's servers end lines with CR LF.
    const all = pending + (piece.includes('\r') ? piece.replaceAll('\r', '') : piece)
    let at = 0
    for (let end = all.indexOf('\n\n'); end >= 0; end = all.indexOf('\n\n', at)) {
      const data = dataOf(all.slice(at, end))
      if (data !== undefined) onEvent(data)
      at = end + 2
    }
    pending = all.slice(at)
  }
}

export interface ChunkCheck {
  event(data: string): void
  /** Throws unless exactly `count` chunks came, in order, and then the task was completed. Resets. */
  finish(count: number): void
}

const chunkNumber = /"text": ?"(\d{6})/

/** A chunk begins with its number; anything else, such as an empty last chunk, is counted as an event only. */
export function chunkCheck(): ChunkCheck {
  let next = 0
  let completed = false
  let wrong: string | undefined

  return {
    event(data) {
      if (data.includes('"artifactUpdate"')) {
        const found = chunkNumber.exec(data)
        if (found === null) return
        const index = Number(found[1])
        if (index !== next || completed) wrong ??= `chunk ${index} where ${next} was due`
        next = index + 1
      } else if (data.includes('TASK_STATE_COMPLETED')) completed = true
      else if (data.includes('"error"')) wrong ??= data
    },
    finish(count) {
      const got = next
      const problem = wrong ?? (completed ? undefined : 'the stream ended before the task')
      next = 0
      completed = false
      wrong = undefined
      if (problem !== undefined) throw new Error(problem)
      if (got !== count) throw new Error(`${got} chunks of ${count}`)
    },
  }
}
