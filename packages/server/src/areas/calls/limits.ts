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

/**
 * Devices say so every five seconds. If the call ends and a device was silent for so long, which means that it missed two
 * times, its time ended with the last sign.
 */
export const OVERDUE_SECONDS = 11

/** How often that is looked at. With the time above, a lost device has left the call after less than 20 seconds. */
export const WATCH_SECONDS = 3

/** If it is looked at so much too late, the service itself may have been away. */
export const LATE_SECONDS = 5

/** A call without a media server ends after this time, unless one answers again. */
export const NO_MEDIA_SECONDS = 20

/** Transcriptions that records of calls show. */
export const SHOWN_TRANSCRIPTIONS = 5

/** Transcriptions of one call. */
export const MAX_TRANSCRIPTIONS = 1_000
