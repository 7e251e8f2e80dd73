import { maintainEventLog, maintainPartitions } from '../platform/events/partitions.ts'

const DELIVERY_DAYS = 7
/** A partition goes when its first row is 14 days old. */
const NOTIFICATION_LOG_DAYS = 13

/** Creates and drops the partitions of all logs, the tables that are partitioned by day. */
export async function maintainLogs(url: string, eventDays: number) {
  const maintained = [
    await maintainEventLog(url, eventDays),
    await maintainPartitions(url, DELIVERY_DAYS, Date.now(), 'webhook_deliveries'),
    await maintainPartitions(url, NOTIFICATION_LOG_DAYS, Date.now(), 'notification_logs'),
  ]
  return {
    made: maintained.flatMap(({ made }) => made),
    dropped: maintained.flatMap(({ dropped }) => dropped),
  }
}
