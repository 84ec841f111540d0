// Reads PostgreSQL's clock, not the beginning of the transaction.
export const selectInstant = 'select clock_timestamp() as now';
