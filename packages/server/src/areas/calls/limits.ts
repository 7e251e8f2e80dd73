/** How long a call rings. `is_active` in db/cell/functions/calls.sql has it too. */
export const RING_SECONDS = 45

/** How long one device can be alone in a call. */
export const LONE_SECONDS = 180

/** Devices in a call at the same time. */
export const MAX_DEVICES = 50

/** A call rings each member of a group, so groups with more members can only meet. */
export const MAX_RUNG = 256

/** A device that says that it is in the call, and then doesn't for so long, is lost. */
export const LOST_SECONDS = 15

/** How often that is looked at. */
export const WATCH_SECONDS = 5

/** Transcriptions that records of calls show. */
export const SHOWN_TRANSCRIPTIONS = 5

/** Transcriptions of one call. */
export const MAX_TRANSCRIPTIONS = 1_000
