int a; /* no end \
