// The guarantees of bulk files, kept in a folder.
import './guarantees.ts';
